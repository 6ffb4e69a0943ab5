package io.penstock.lab.bench.side;

import io.penstock.check.InternetAddress;
import io.penstock.node.cli.OwnCommand;
import io.penstock.node.cli.TemporaryFolder;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.link.HostPort;
import io.penstock.node.text.Json;
import io.penstock.wire.transport.SocketTuning;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.core.RSocketConnector;
import io.rsocket.util.DefaultPayload;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.netty.resources.LoopResources;

/// The near side's end of a [FarSide]: one in a process that this one starts, or one that runs elsewhere.
///
/// A process that was started ends with this one: its standard input ends then.
public final class FarLink implements AutoCloseable {
  private static final String MAIN = "io.penstock.lab.LabMain";

  /// Line that a far side prints when it is ready.
  record Ready(int port) {}

  private final String host;
  private final RSocket control;
  private final LoopResources loops;
  private final @Nullable Process process;
  /// Resources of the far side: its folder, or a whole far side in this process.
  private final @Nullable AutoCloseable rest;

  private FarLink(String host, RSocket control, LoopResources loops, @Nullable Process process,
      @Nullable AutoCloseable rest) {
    this.host = host;
    this.control = control;
    this.loops = loops;
    this.process = process;
    this.rest = rest;
  }

  /// Starts a far side in a process of its own.
  ///
  /// Its sockets are in a folder of this process, which outlives it however it ends.
  public static FarLink start(long sourceBytes) throws IOException {
    TemporaryFolder folder = TemporaryFolder.create("penstock-bench-");
    try {
      Process process = new ProcessBuilder(OwnCommand.of(List.of(), MAIN,
          List.of("bench", FarSideCommand.NAME, FarSideCommand.UNTIL_INPUT_ENDS, "" + folder.path(), "--source",
              "" + sourceBytes)))
          .redirectError(ProcessBuilder.Redirect.INHERIT).start();
      prepare();
      String line =
          new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)).readLine();
      if (line == null) {
        throw new IOException("the far side ended before it reported its port");
      }
      return connect("127.0.0.1", Json.MAPPER.readValue(line, Ready.class).port(), process, folder);
    } catch (IOException | RuntimeException e) {
      folder.close();
      throw e;
    }
  }

  /// Loads what this side needs while the other process starts.
  private static void prepare() {
    LoopResources loops = LoopResources.create("penstock-near-prepared", 1, true);
    BenchTransport.TCP.client("127.0.0.1", "1", SocketTuning.defaults(), loops);
    loops.onClient(true);
    Json.MAPPER.readValue(Json.of(FarOrder.of(FarOrder.Verb.CPU)), FarOrder.class);
    BenchWait.end(loops);
  }

  /// The far side that `penstock bench far-side` runs at `address`.
  static FarLink connect(HostPort address) {
    return connect(address.host(), address.port(), null, null);
  }

  /// Starts a far side in this process.
  public static FarLink here(long sourceBytes) throws IOException {
    TemporaryFolder folder = TemporaryFolder.create("penstock-bench-");
    FarSide side = new FarSide(new BenchTransport.Place("127.0.0.1", folder.path()), 0, sourceBytes);
    return connect("127.0.0.1", side.port(), null, () -> {
      side.close();
      folder.close();
    });
  }

  private static FarLink connect(String host, int port, @Nullable Process process, @Nullable AutoCloseable rest) {
    LoopResources loops = LoopResources.create("penstock-near-control", 1, true);
    try {
      RSocket control = BenchWait.of(RSocketConnector.create()
          .connect(BenchTransport.TCP.client(host, "" + port, SocketTuning.defaults(), loops)));
      FarLink link = new FarLink(host, control, loops, process, rest);
      link.ask(FarOrder.of(FarOrder.Verb.CPU)); // a node, or a server of another protocol, does not answer that
      return link;
    } catch (RuntimeException e) {
      loops.dispose();
      if (process != null) {
        process.destroyForcibly();
      }
      throw new UnavailableException("no far side of a bench is listening at " + InternetAddress.text(host, port), e);
    }
  }

  /// Host of its listeners.
  String host() {
    return host;
  }

  FarOrder.Answer ask(FarOrder order) {
    Payload answer = BenchWait.of(control.requestResponse(DefaultPayload.create(Json.of(order))));
    try {
      return Json.MAPPER.readValue(answer.getDataUtf8(), FarOrder.Answer.class);
    } finally {
      answer.release();
    }
  }

  /// CPU time of the far process so far; 0 if that is this one.
  long cpuNanos() {
    return process == null && rest != null ? 0 : ask(FarOrder.of(FarOrder.Verb.CPU)).cpuNanos();
  }

  /// Ends all that the far side serves.
  void end() {
    ask(FarOrder.of(FarOrder.Verb.END));
  }

  private static void end(@Nullable AutoCloseable side) {
    if (side != null) {
      try {
        side.close();
      } catch (Exception e) {
        throw new IllegalStateException("the far side did not end", e);
      }
    }
  }

  @Override
  public void close() {
    try {
      end();
    } finally {
      control.dispose();
      BenchWait.end(loops);
      if (process != null) {
        process.toHandle().destroy();
        process.onExit().join();
      }
      end(rest);
    }
  }
}
