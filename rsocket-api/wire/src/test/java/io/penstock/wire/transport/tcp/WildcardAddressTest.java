package io.penstock.wire.transport.tcp;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.netty.resources.LoopResources;

/// Which addresses a server at a wildcard accepts. The tests' own JVM has no IPv6, so another one listens.
final class WildcardAddressTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  /// Prints, for native and plain sockets at both wildcards, the loopback addresses that are accepted.
  static final class Listening {
    private Listening() {}

    public static void main(String[] args) throws IOException {
      if (!isAccepted("::1", TcpServerOptions.on("::1", 0), LoopResources.create("plain", 1, true))) {
        System.out.print("no IPv6");
        return;
      }
      LoopResources loops = LoopResources.create("wildcard", 1, true);
      for (LoopResources each : List.of(loops, (LoopResources) useNative -> loops.onServer(false))) {
        for (String wildcard : List.of("0.0.0.0", "::")) {
          TcpServerOptions options = TcpServerOptions.on(wildcard, 0);
          System.out.print(wildcard + " " + isAccepted("127.0.0.1", options, each) + " "
              + isAccepted("::1", options, each) + "\n");
        }
      }
    }

    private static boolean isAccepted(String host, TcpServerOptions options, LoopResources loops) throws IOException {
      TcpListener listener;
      try {
        listener = requireNonNull(TcpTransport.server(options, loops)
            .start(connection -> connection.onClose()).block(SOON));
      } catch (RuntimeException e) {
        return false;
      }
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress(host, listener.port()), (int) SOON.toMillis());
        return true;
      } catch (ConnectException e) {
        return false;
      } finally {
        listener.dispose();
      }
    }
  }

  @Test
  @Timeout(60)
  void wildcardOfIpv4_acceptsIpv4Alone_andThatOfIpv6Both() throws Exception {
    List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow", "-cp", System.getProperty("java.class.path"),
        Listening.class.getName()));
    Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isZero();
    assumeTrue(!said.endsWith("no IPv6"), "this host has no IPv6");
    assertThat(said.lines().filter(line -> line.startsWith("0.0.0.0") || line.startsWith("::"))).containsExactly(
        "0.0.0.0 true false", ":: true true", "0.0.0.0 true false", ":: true true");
  }
}
