package io.penstock.lab.attack;

import io.penstock.node.link.AdminClient;
import io.penstock.node.link.HostPort;
import io.penstock.node.link.NodePass;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Gauges that `/metrics` of a node shows; null where a gauge is missing.
record Gauges(@Nullable Long connections, @Nullable Long streams, @Nullable Long residentBytes) {
  static final Gauges UNKNOWN = new Gauges(null, null, null);

  private static final String CONNECTIONS = "penstock_wire_connections";
  private static final String STREAMS = "penstock_wire_streams";
  private static final String RESIDENT = "process_resident_memory_bytes";

  /// Asks a node over and over.
  static final class Source implements AutoCloseable {
    private static final int OK = 200;
    private final HostPort admin;
    private final AdminClient client;

    Source(HostPort admin, Duration patience) {
      this.admin = admin;
      this.client = new AdminClient(admin, NodePass.none(), patience);
    }

    /// @throws IOException if the node does not answer, or refuses the answer
    Gauges now() throws IOException {
      AdminClient.Answer answer = client.get("/metrics");
      if (answer.status() != OK) {
        throw new IOException("the admin endpoints at %s must answer with 200 (was %d: %s)".formatted(admin,
            answer.status(), answer.body().strip()));
      }
      return of(answer.body());
    }

    @Override
    public void close() {
      client.close();
    }
  }

  static Gauges of(String metrics) {
    return new Gauges(value(metrics, CONNECTIONS), value(metrics, STREAMS), value(metrics, RESIDENT));
  }

  private static @Nullable Long value(String metrics, String name) {
    return metrics.lines().filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
        .map(line -> Math.round(Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1).toUpperCase(Locale.ROOT))))
        .findFirst().orElse(null);
  }
}
