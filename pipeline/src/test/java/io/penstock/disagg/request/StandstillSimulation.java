package io.penstock.disagg.request;

import io.penstock.KvException;
import io.penstock.TransientKvException;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.registry.RankOwner;
import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.registry.Registrant;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.registry.RegistryOptions;
import io.penstock.disagg.request.ReceiveOrder.Shard;
import io.penstock.operator.LiveTimers;
import io.penstock.testkit.Blocks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Two prefills, two decodes and a registry under load, one of which stands still now and then.
final class StandstillSimulation {
  private static final Duration LEASE = Duration.ofSeconds(6);
  private static final Duration HEARTBEAT = Duration.ofMillis(1500);
  private static final Duration SLACK = Duration.ofMillis(500);
  private static final List<Duration> TIMES =
      List.of(Duration.ofSeconds(1), Duration.ofSeconds(8), Duration.ofSeconds(15), Duration.ofSeconds(40));
  private static final LifecycleOptions OPTIONS = new LifecycleOptions(
      new LifecycleOptions.Lease(LEASE, Duration.ofHours(1), Duration.ofSeconds(30)),
      new LifecycleOptions.Patience(LEASE, Duration.ofSeconds(20), Duration.ofSeconds(5), Duration.ofSeconds(2)),
      new LifecycleOptions.Signals(12, Duration.ofSeconds(5)), Duration.ofMillis(100));

  private final VirtualTimeScheduler world = VirtualTimeScheduler.create();
  private final Random random;
  private final boolean isLive;
  private final List<SimProcess> processes = new ArrayList<>();
  private final SimProcess registry;
  private final RankRegistry ranks;
  private final Map<RankId, SimProcess> places = new HashMap<>();
  private final List<Prefill> prefills = new ArrayList<>();
  private final Map<String, Integer> ends = new HashMap<>();
  private final Map<String, SimProcess> readers = new HashMap<>();
  /// Requests whose reader stood still for long.
  private final Set<String> slept = new HashSet<>();
  private final List<String> violations = new ArrayList<>();
  private int requests;
  private int released;
  private int lost;

  private record Prefill(Incarnation who, SimProcess process, PrefillConnector kept) {}

  StandstillSimulation(long seed, boolean isLive) {
    this.random = new Random(seed);
    this.isLive = isLive;
    this.registry = process();
    this.ranks = new RankRegistry(RegistryOptions.defaults().withHeartbeat(HEARTBEAT, 2),
        () -> registry.timers.now(TimeUnit.NANOSECONDS), this::gone);
    Disposable unused = registry.timers.schedulePeriodically(ranks::expire, 100, 100, TimeUnit.MILLISECONDS);
    for (int number = 0; number < 2; number++) {
      SimProcess process = process();
      Incarnation who = new RankId("prefill-" + number, 0).since(1);
      prefills.add(new Prefill(who, process, new PrefillConnector(OPTIONS, new LifecycleListener() {
        @Override
        public void released(String request, Release release) {
          StandstillSimulation.this.released(request, release);
        }
      }, process.timers)));
      stay(who, Side.PREFILL, process);
    }
    for (int number = 0; number < 2; number++) {
      decode(new RankId("decode-" + number, 0).since(1));
    }
  }

  private SimProcess process() {
    SimProcess process = new SimProcess(world, random, isLive);
    processes.add(process);
    return process;
  }

  private long latency() {
    return 100_000L + random.nextInt(2_000_000);
  }

  /// Delivers a message to `process`.
  private void send(SimProcess process, Runnable message) {
    Disposable unused = world.schedule(() -> process.run(message), latency(), TimeUnit.NANOSECONDS);
  }

  // Registry

  private void stay(Incarnation who, Side side, SimProcess process) {
    places.put(who.rank(), process);
    Registration self = new Registration(side, who, 1,
        Manifest.of("m", Blocks.smallSpace().layout(), Parallelism.ofTp(1)), new Endpoint("host", 1));
    Registrant owner = new Registrant(RankOwner.ofUser("user of " + who.rank().instance()), "address", process);
    ranks.register(owner, self);
    Runnable beat = () -> send(registry, () -> {
      if (!ranks.heartbeat(owner.owner(), who)) {
        send(process, () -> send(registry, () -> ranks.register(owner, self)));
      }
    });
    Disposable unused =
        process.timers.schedulePeriodically(beat, 0, HEARTBEAT.toMillis(), TimeUnit.MILLISECONDS);
    LiveTimers.wakes(process.timers).subscribe(late -> beat.run());
  }

  private void gone(Incarnation who) {
    if (!places.get(who.rank()).stoodStill(HEARTBEAT.minus(SLACK), SLACK)) {
      violations.add("rank " + who + " lived and was dropped");
    }
  }

  // Requests

  private void decode(Incarnation self) {
    SimProcess process = process();
    stay(self, Side.DECODE, process);
    DecodeConnector connector = new DecodeConnector(self, OPTIONS, (to, signal) -> Mono.create(sink -> {
      Prefill target = prefills.stream().filter(each -> each.who().equals(to)).findFirst().orElseThrow();
      send(target.process(), () -> target.kept().accept(signal)
          .subscribe(answer -> send(process, () -> sink.success(answer)), failed -> send(process,
              () -> sink.error(failed))));
    }), LifecycleListener.noop(), process.timers, random);
    for (int line = 0; line < 4; line++) {
      next(self, process, connector);
    }
  }

  private void next(Incarnation self, SimProcess process, DecodeConnector connector) {
    String request = "r" + requests++;
    Prefill source = prefills.get(random.nextInt(2));
    readers.put(request, process);
    ends.put(request, 0);
    long moves = random.nextLong(LEASE.toNanos() * 3 / 2);
    send(source.process(), () -> {
      source.kept().open(request, Set.of(self.rank()), HeldBlocks.none());
      send(process, () -> connector.receive(order(request, source, process, moves)).subscribe(received -> {
        ended(request, received);
        next(self, process, connector);
      }));
    });
  }

  private ReceiveOrder order(String request, Prefill source, SimProcess process, long moves) {
    ShardMover mover = ticket -> {
      ticket.accepted();
      return Mono.delay(Duration.ofNanos(moves), process).then(pulled(request, source, process))
          .doOnNext(came -> ticket.landed(1)).then();
    };
    return new ReceiveOrder(request, List.of(new Shard(source.who(), 1, GroupBlocks.range(0, 1), mover)), List.of(),
        HeldBlocks.none(), false, FailurePolicy.retry(2), Duration.ofMinutes(5));
  }

  private Mono<Boolean> pulled(String request, Prefill source, SimProcess process) {
    return Mono.create(sink -> send(source.process(), () -> {
      boolean isKept = source.kept().state(request).isPresent();
      send(process, () -> {
        if (isKept) {
          sink.success(true);
        } else {
          sink.error(new TransientKvException("the blocks are not there"));
        }
      });
    }));
  }

  private void ended(String request, Received received) {
    ends.merge(request, 1, Integer::sum);
    boolean mayLose = mayLose(request);
    boolean isLost = received.cause() instanceof KvException && received.ending() == Ending.FAILED;
    lost += isLost ? 1 : 0;
    if (received.ending() != Ending.READY && !(mayLose && isLost)) {
      violations.add(request + " ended " + received.ending() + " by " + received.cause());
    }
  }

  private void released(String request, Release release) {
    released++;
    if (release != Release.DONE && !mayLose(request)) {
      violations.add(request + " was renewed in time and " + release);
    }
  }

  /// Whether the reader stood still for so long that it could not renew the lease.
  private boolean mayLose(String request) {
    return slept.contains(request) || readers.get(request).stoodStill(LEASE.dividedBy(3), SLACK);
  }

  // Run

  StandstillSimulation run(int standstills) {
    for (int i = 0; i < standstills; i++) {
      world.advanceTimeBy(Duration.ofMillis(20_000 + random.nextInt(5_000)));
      SimProcess one = processes.get(random.nextInt(processes.size()));
      one.stop();
      world.advanceTimeBy(TIMES.get(random.nextInt(TIMES.size())));
      if (one.stoodStill(LEASE.dividedBy(3), Duration.ZERO)) {
        readers.forEach((request, reader) -> {
          if (reader == one && ends.get(request) == 0) {
            slept.add(request);
          }
        });
      }
      one.goOn();
    }
    world.advanceTimeBy(Duration.ofSeconds(20));
    long twice = ends.values().stream().filter(count -> count > 1).count();
    long under = ends.values().stream().filter(count -> count == 0).count();
    if (twice > 0 || under > 8) {
      violations.add("each request must end once (" + twice + " ended more often, " + under + " are under way)");
    }
    return this;
  }

  List<String> violations() {
    return violations;
  }

  int ended() {
    return requests - 8;
  }

  /// Requests whose reader learnt that its lease was over.
  int lost() {
    return lost;
  }

  int released() {
    return released;
  }
}
