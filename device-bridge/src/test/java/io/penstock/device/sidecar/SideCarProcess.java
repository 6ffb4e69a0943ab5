package io.penstock.device.sidecar;

import static java.util.Objects.requireNonNull;

import io.penstock.device.Device;
import io.penstock.device.ascend.AscendDevice;
import io.penstock.device.ascend.AscendDevices;
import io.penstock.device.ascend.AscendListener;
import io.penstock.device.ascend.AscendOptions;
import io.penstock.device.sidecar.client.SideCarClient;
import io.penstock.device.sidecar.server.SideCarServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/// A node, or a process that uses one, in a JVM of its own: begun beforehand, told when to go, and killed.
final class SideCarProcess implements AutoCloseable {
  /// Longer than any machine stands still: what is tried here is the end of a process, not its silence.
  static final Duration LIFE = Duration.ofMinutes(10);

  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final Process process;
  private final BufferedReader out;

  private SideCarProcess(Process process) {
    this.process = process;
    this.out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /// Begins a JVM that waits.
  ///
  /// @param arguments role (`node` or `client`), path of the socket, library or empty, name of memfds
  static SideCarProcess begin(Path err, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(
        List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m", "-Xshare:auto",
            "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> flag.startsWith("--")).toList());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), SideCarProcess.class.getName()));
    command.addAll(List.of(arguments));
    return new SideCarProcess(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(err.toFile())).start());
  }

  void go() throws IOException {
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
  }

  /// Its next line; null after its end.
  String line() throws IOException {
    return out.readLine();
  }

  long pid() {
    return process.pid();
  }

  /// Kills it, and waits until the system has taken back all that was its.
  void kill() throws InterruptedException {
    process.destroyForcibly();
    if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError("a killed process must end (did not)");
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  /// Ends with the one that began it: that one's end closes standard input.
  public static void main(String[] arguments) throws IOException {
    Path path = Path.of(arguments[1]);
    AscendDevice device = arguments[2].isEmpty() ? null : device(arguments[2]);
    if (System.in.read() < 0) {
      return;
    }
    if (arguments[0].equals("node")) {
      SideCarServer.open(path, SideCarServerOptions.defaults().withTimeToLive(LIFE),
          device == null ? Map.of() : Map.<Integer, Device>of(0, device));
      System.out.println("ready");
    } else {
      use(path, device, arguments[3]);
    }
    while (System.in.read() >= 0) {
      continue;
    }
    Runtime.getRuntime().halt(0);
  }

  private static AscendDevice device(String library) {
    AscendDevices devices =
        AscendDevices.find(AscendOptions.defaults().withLibrary(library), AscendListener.noop()).orElseThrow();
    return requireNonNull(devices.open(0).block(LIMIT));
  }

  private static void use(Path path, AscendDevice device, String name) throws IOException {
    SideCarClient client = SideCarClient.open(path, SideCarClientOptions.defaults().withTimeToLive(LIFE));
    SharedBuffers buffers = new SharedBuffers(client, requireNonNull(path.getParent()), name, device);
    buffers.awaitHealthy();
    buffers.register();
    buffers.requireUsable(ProcessHandle.current().pid());
    System.out.println("usable");
    buffers.traffic(ProcessHandle.current().pid()).subscribe(nothing -> {}, error -> System.out.println(error));
  }
}
