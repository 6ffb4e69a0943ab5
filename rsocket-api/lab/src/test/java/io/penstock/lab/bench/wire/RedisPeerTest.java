package io.penstock.lab.bench.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.lab.bench.side.BenchTransport;
import io.penstock.lab.bench.side.Load;
import io.penstock.lab.bench.side.SideSetting;
import io.penstock.wire.transport.CongestionControl;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Reads of a server that speaks as much of RESP2 as the client needs.
@Timeout(30)
final class RedisPeerTest {
  private final Map<String, String> values = new ConcurrentHashMap<>();

  private void serve(ServerSocket listening) {
    try {
      while (true) {
        Socket socket = listening.accept();
        Thread.ofVirtual().start(() -> answer(socket));
      }
    } catch (IOException e) {
      assertThat(listening.isClosed()).isTrue();
    }
  }

  private void answer(Socket socket) {
    try (socket;
        BufferedReader in =
            new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))) {
      OutputStream out = socket.getOutputStream();
      for (String count = in.readLine(); count != null; count = in.readLine()) {
        String[] words = new String[Integer.parseInt(count.substring(1))];
        for (int i = 0; i < words.length; i++) {
          in.readLine(); // its length
          words[i] = in.readLine();
        }
        out.write(answer(words).getBytes(StandardCharsets.US_ASCII));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String answer(String... words) {
    return switch (words[0]) {
      case "PING" -> "+PONG\r\n";
      case "FLUSHALL" -> {
        values.clear();
        yield "+OK\r\n";
      }
      case "SET" -> {
        values.put(words[1], words[2]);
        yield "+OK\r\n";
      }
      case "GET" -> "$" + values.get(words[1]).length() + "\r\n" + values.get(words[1]) + "\r\n";
      default -> "-ERR\r\n";
    };
  }

  @Test
  void reads_areCounted() throws IOException {
    try (ServerSocket listening = new ServerSocket(0)) {
      Thread.ofVirtual().start(() -> serve(listening));
      SideSetting setting = new SideSetting(BenchTransport.TCP, CongestionControl.AUTOMATIC, 1, 2, 1, 1 << 20, false,
          Duration.ZERO, Duration.ofMillis(20), Duration.ZERO, 1);
      try (RedisPeer peer = new RedisPeer(new InetSocketAddress("127.0.0.1", listening.getLocalPort()), null);
          Load load = peer.load(32 << 10, 4, setting)) {
        assertThat(values).hasSize(32);
        Load.Done done = load.run(200_000_000);
        assertThat(done.units()).isPositive().matches(bytes -> bytes % (4 * (32 << 10)) == 0);
        assertThat(done.latencies().getTotalCount()).isEqualTo(done.units() / (4 * (32 << 10)));
      }
    }
  }
}
