package io.penstock.node.party;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.cli.Failures;
import io.penstock.node.option.LayoutOptions;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.serve.ServeCommand;
import io.penstock.node.tiers.Endings;
import io.penstock.node.tiers.TierRecording;
import io.penstock.wire.report.RecordedConnections;
import io.penstock.wire.transport.ConnectionListener;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.transport.ClientTransport;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;
import reactor.netty.resources.LoopResources;

/// One party of `penstock replay --processes`, which starts it and talks to it; not for people.
///
/// When its standard input ends, the replay that started it is gone, and it ends too.
@Command(name = PartyCommand.NAME, hidden = true,
    description = "A party of a replay in three processes; started by it.",
    subcommands = {PartyCommand.Serving.class, PartyCommand.Decoding.class, PartyCommand.Prefilling.class})
public final class PartyCommand implements Callable<Integer> {
  static final String NAME = "replay-party";

  @Override
  public Integer call() {
    return ExitCode.USAGE;
  }

  /// The node: `penstock serve`, until standard input ends.
  @Command(name = "node")
  static final class Serving implements Callable<Integer> {
    private final Console console;

    @Unmatched
    private List<String> arguments = new ArrayList<>(); // filled by the command line

    Serving(Console console) {
      this.console = console;
    }

    @Override
    public Integer call() {
      Thread.ofPlatform().daemon().name("penstock-parent").start(() -> {
        awaitEnd(console);
        Runtime.getRuntime().halt(ExitCode.INPUT_OUTPUT);
      });
      Failures failures = new Failures(console);
      return ServeCommand.line(console).setParameterExceptionHandler(failures).setExecutionExceptionHandler(failures)
          .execute(arguments.toArray(String[]::new));
    }

    private static void awaitEnd(Console console) {
      try {
        console.in().transferTo(OutputStream.nullOutputStream());
      } catch (IOException e) {
        console.say("standard input broke: " + e.getMessage());
      }
    }
  }

  /// Parts that decode and prefill share.
  abstract static class Role implements Callable<Integer> {
    private static final Duration LAST_MOMENT = Duration.ofSeconds(2);

    private final Console console;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--port", required = true)
    private int port;

    @Option(names = "--budget", required = true)
    private long budgetBytes;

    @Option(names = "--concurrency", required = true)
    private int concurrency;

    @Mixin
    private RecordOptions record = new RecordOptions();

    Role(Console console) {
      this.console = console;
    }

    abstract PartyConnection connect(ClientTransport node, FlowPlan plan);

    abstract PartyHost host(ControlLine line, PartyConnection connection, TraceKeys keys);

    @Override
    public Integer call() throws IOException {
      FlowPlan plan = FlowPlan.of(LayoutOptions.space(spec), budgetBytes, concurrency);
      LoopResources loop = LoopResources.create("penstock-party", 1, true);
      TierRecording recording = record.begin("");
      if (recording != null) { // however the replay ends this process
        Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(recording::close));
      }
      PartyConnection connection = connect(TcpTransport.client(TcpClientOptions.to("127.0.0.1", port), loop,
          RecordedConnections.of(ConnectionListener.noop(), recording == null ? null : recording.recorder())), plan);
      ControlLine line = new ControlLine(console.in(), console.out());
      PartyHost host = host(line, connection, new TraceKeys(plan.space().id(), 0));
      line.send(new Message.Ready(0));
      line.listen(host::hear);
      host.close();
      Endings.inOrder(List.of(connection.close(), loop.disposeLater(Duration.ZERO, LAST_MOMENT)))
          .block(LAST_MOMENT.multipliedBy(2));
      return ExitCode.OK;
    }
  }

  /// The decode party.
  @Command(name = "decode", modelTransformer = LayoutOptions.class)
  static final class Decoding extends Role {
    Decoding(Console console) {
      super(console);
    }

    @Override
    PartyConnection connect(ClientTransport node, FlowPlan plan) {
      return Objects.requireNonNull(PartyConnection.decode(node, plan).block());
    }

    @Override
    PartyHost host(ControlLine line, PartyConnection connection, TraceKeys keys) {
      return PartyHost.of(line, connection.decode(keys, System::nanoTime));
    }
  }

  /// The prefill party.
  @Command(name = "prefill", modelTransformer = LayoutOptions.class)
  static final class Prefilling extends Role {
    Prefilling(Console console) {
      super(console);
    }

    @Override
    PartyConnection connect(ClientTransport node, FlowPlan plan) {
      return Objects.requireNonNull(PartyConnection.prefill(node, plan).block());
    }

    @Override
    PartyHost host(ControlLine line, PartyConnection connection, TraceKeys keys) {
      return PartyHost.of(line, connection.prefill(keys));
    }
  }
}
