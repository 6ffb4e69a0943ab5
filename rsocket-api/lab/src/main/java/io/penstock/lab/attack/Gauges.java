package io.penstock.lab.attack;

import io.penstock.node.link.HostPort;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
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
    private final HttpClient http;
    private final HttpRequest request;

    Source(HostPort admin, Duration patience) {
      this.http = HttpClient.newBuilder().connectTimeout(patience).build();
      this.request = HttpRequest.newBuilder(admin.http("/metrics")).timeout(patience).build();
    }

    /// @throws IOException if the node does not answer
    Gauges now() throws IOException, InterruptedException {
      return of(http.send(request, BodyHandlers.ofString()).body());
    }

    @Override
    public void close() {
      http.shutdownNow();
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
