package io.penstock.node.party;

import static java.util.Objects.requireNonNull;

import io.penstock.PermanentKvException;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.text.Json;
import io.penstock.node.tiers.Endings;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.netty.resources.LoopResources;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// Node, decode and prefill in three processes of their own; this one only drives them and looks at the node.
public final class ProcessParties implements Parties {
  private static final Duration READY = Duration.ofSeconds(60);
  private static final Duration LAST_MOMENT = Duration.ofSeconds(5);

  private final FlowPlan plan;
  private final Path folder;
  private final RecordOptions record;
  private final Scheduler timers;
  private final LoopResources loop = LoopResources.create("penstock-observer", 1, true);
  private final List<PartyProcess> processes = new ArrayList<>();
  private volatile int port;
  private @Nullable RemoteParty decode;
  private @Nullable RemoteParty prefill;
  private @Nullable PartyConnection observer;

  private ProcessParties(FlowPlan plan, Path folder, Scheduler timers, RecordOptions record) {
    this.record = record;
    this.plan = plan;
    this.folder = folder;
    this.timers = timers;
  }

  /// Starts the three and waits until each is ready.
  ///
  /// @param serve arguments of `penstock serve` beyond those that `plan` says
  /// @param folder where their logs go
  /// @param record what each of them records, into a folder of its name
  public static Mono<ProcessParties> open(FlowPlan plan, List<String> serve, Path folder, Scheduler timers,
      RecordOptions record) {
    return Mono.defer(() -> {
      ProcessParties parties = new ProcessParties(plan, folder, timers, record);
      return parties.start(serve).onErrorResume(error -> Endings.after(error, parties.close()));
    });
  }

  private Mono<ProcessParties> start(List<String> serve) {
    return begin("node", RoleArguments.node(plan, serve, record.arguments("node", true)))
        .flatMap(PartyProcess::firstLine)
        .map(ProcessParties::port)
        .doOnNext(known -> port = known)
        .flatMap(port -> Mono.zip(party("decode", port), party("prefill", port), observe(port)))
        .timeout(READY,
            Mono.error(
                () -> new PermanentKvException("parties must be ready within " + READY + " (logs in " + folder + ")")),
            timers)
        .map(all -> {
          decode = all.getT1();
          prefill = all.getT2();
          return this;
        });
  }

  private Mono<RemoteParty> party(String name, int port) {
    return begin(name, RoleArguments.party(name, plan, port, record.arguments(name, false))).flatMap(process -> {
      Sinks.Empty<Void> ready = Sinks.empty();
      ControlLine line = process.line();
      RemoteParty party = new RemoteParty(name, line);
      process.onThread(() -> {
        listen(line, party, ready);
        party.end(process.how());
        ready.tryEmitError(new PartyGoneException(name, process.how()));
      });
      return ready.asMono().thenReturn(party);
    });
  }

  /// Reads until the output of the process ends.
  private static void listen(ControlLine line, RemoteParty party, Sinks.Empty<Void> ready) {
    try {
      line.listen(message -> {
        if (message instanceof Message.Ready) {
          ready.tryEmitEmpty();
        } else {
          party.hear(message);
        }
      });
    } catch (IOException e) {
      party.end("said nonsense: " + e.getMessage());
    }
  }

  private Mono<PartyConnection> observe(int port) {
    return PartyConnection.observer(TcpTransport.client(TcpClientOptions.to("127.0.0.1", port), loop), plan)
        .doOnNext(connection -> observer = connection);
  }

  private Mono<PartyProcess> begin(String name, List<String> arguments) {
    return Mono.fromCallable(() -> {
      PartyProcess process = PartyProcess.start(name, arguments, folder);
      synchronized (processes) {
        processes.add(process);
      }
      return process;
    });
  }

  private static int port(String ready) {
    try {
      JsonNode port = Json.MAPPER.readTree(ready).get("port");
      if (port != null && port.isInt()) {
        return port.intValue();
      }
    } catch (JacksonException e) {
      throw new PermanentKvException("the node's first line must be JSON (was " + ready + ")", e);
    }
    throw new PermanentKvException("the node's first line must name its port (was " + ready + ")");
  }

  @Override
  public String description() {
    return "three processes, loopback TCP";
  }

  @Override
  public DecodeParty decode() {
    return ready(decode);
  }

  @Override
  public PrefillParty prefill() {
    return ready(prefill);
  }

  @Override
  public Mono<PartyStat> stat() {
    return Mono.zip(ready(decode).stat(), ready(prefill).stat(), nodeStat())
        .map(all -> all.getT1().plus(all.getT2()).plus(all.getT3()));
  }

  @Override
  public Mono<Void> lost() {
    return Mono.firstWithSignal(all().stream().map(PartyProcess::lost).toList());
  }

  @Override
  public Mono<Void> close() {
    return Endings.inOrder(List.of(
        Mono.defer(() -> observer == null ? Mono.empty() : observer.close()),
        Mono.defer(() -> Mono.whenDelayError(all().stream().map(process -> process.stop(timers)).toList())),
        loop.disposeLater(Duration.ZERO, LAST_MOMENT)));
  }

  /// Port of the node.
  int port() {
    return port;
  }

  /// The state of the node.
  Mono<PartyStat> nodeStat() {
    return ready(observer).nodeStat();
  }

  /// The processes, for tests that kill them.
  List<PartyProcess> all() {
    synchronized (processes) {
      return List.copyOf(processes);
    }
  }

  private static <T> T ready(@Nullable T part) {
    return requireNonNull(part, "open() completes when ready");
  }
}
