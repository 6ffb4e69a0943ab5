package io.penstock.disagg.request;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.request.LifecycleFault.Kind;
import io.penstock.disagg.request.ReceiveOrder.Shard;
import io.penstock.disagg.request.SimMemory.Slot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/// Many requests from one prefill instance to one decode instance, some of which meet a fault.
final class LifecycleSimulation {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final long ARRIVAL_NANOS = 20_000_000;
  /// Latencies are drawn anew in each run: those of a question and of the last slice take 10 ms at most, and another
  /// request of at most 12 slices may come before this one.
  private static final long SLACK_NANOS = 10_000_000 + 12 * LifecycleWorld.SLICE_NANOS;
  /// A link that faults made busy stays busy for a while.
  private static final long BUSY_NANOS = 100_000_000;

  private final LifecycleWorld world;
  private final long seed;
  private final int prefillRanks;
  private final int decodeRanks;
  private final List<SimDecode> decodes = new ArrayList<>();
  private final List<SimRequest> requests = new ArrayList<>();
  private final Set<String> repeated = new HashSet<>();

  /// A process of a decode rank.
  private final class SimDecode {
    final RankId rank;
    Incarnation self;
    DecodeConnector requests;
    SimMemory memory;

    SimDecode(RankId rank) {
      this.rank = rank;
      start();
    }

    void start() {
      self = rank.since(world.nextGeneration());
      memory = new SimMemory();
      Incarnation sender = self;
      PeerSignals signals = (to, signal) -> sender.equals(self)
          ? world.send(to, signal)
          : Mono
              .error(new SimTransfer.LostException());
      requests = new DecodeConnector(self, LifecycleWorld.OPTIONS, signals, LifecycleListener.noop(), world.timers,
          new Random(seed));
    }
  }

  /// One request, as the engines see it.
  final class SimRequest {
    final String id;
    final LifecycleFault fault;
    final FailurePolicy policy;
    final int blocks;
    final int cached;
    final boolean replicated;
    final Map<SimDecode, Disposable> running = new LinkedHashMap<>();
    final Map<SimDecode, List<Slot>> slots = new HashMap<>();
    int ready;
    int ends;
    boolean affected;
    boolean begun;
    Ending ending;
    long beginNanos;
    long endNanos;

    SimRequest(int number, Random random, double faults) {
      this.id = "r" + number;
      this.blocks = 1 + random.nextInt(12);
      this.cached = random.nextInt(8) == 0 ? blocks : random.nextInt(3) == 0 ? random.nextInt(blocks) : 0;
      this.replicated = random.nextInt(4) == 0;
      int retries = random.nextInt(4);
      this.policy = new FailurePolicy(retries, Duration.ofMillis(100), Duration.ofSeconds(1),
          random.nextBoolean() ? FailurePolicy.Last.FAIL : FailurePolicy.Last.RECOMPUTE);
      Kind[] kinds = Kind.values();
      LifecycleFault drawn =
          new LifecycleFault(kinds[1 + random.nextInt(kinds.length - 1)], random.nextInt(12), 1 + random.nextInt(3));
      this.fault = random.nextDouble() < faults ? drawn : LifecycleFault.NONE;
      this.affected = fault.kind() != Kind.NONE;
    }

    boolean isHealthy() {
      return !affected;
    }

    void end(Ending how) {
      if (ends == 0) {
        ending = how;
        endNanos = world.nanos();
        ends++;
        List.copyOf(running.values()).forEach(Disposable::dispose);
        running.clear();
      }
    }
  }

  LifecycleSimulation(long seed, int count, double faults) {
    this.seed = seed;
    this.world = new LifecycleWorld(seed);
    Random random = new Random(seed);
    this.prefillRanks = 1 << random.nextInt(3);
    this.decodeRanks = 1 << random.nextInt(3);
    for (int rank = 0; rank < prefillRanks; rank++) {
      world.start(new RankId("prefill", rank));
    }
    for (int rank = 0; rank < decodeRanks; rank++) {
      decodes.add(new SimDecode(new RankId("decode", rank)));
    }
    for (int i = 0; i < count; i++) {
      requests.add(new SimRequest(i, new Random(seed * 1_000_003 + i), faults));
    }
    world.repeated = signal -> repeated.contains(signal.request());
  }

  LifecycleSimulation run() {
    for (int i = 0; i < requests.size(); i++) {
      SimRequest request = requests.get(i);
      if (request.fault.kind() == Kind.DUPLICATE) {
        repeated.add(request.id);
      }
      world.later(i * ARRIVAL_NANOS + 1, () -> prefilled(request));
    }
    world.timers.advanceTimeBy(Duration.ofNanos(requests.size() * ARRIVAL_NANOS));
    world.timers.advanceTimeBy(Duration.ofMinutes(10));
    return this;
  }

  private List<Integer> sources(SimRequest request, int decode) {
    if (prefillRanks <= decodeRanks) {
      return List.of(decode * prefillRanks / decodeRanks);
    }
    int ratio = prefillRanks / decodeRanks;
    return request.replicated
        ? List.of(decode * ratio)
        : IntStream.range(decode * ratio, (decode + 1) * ratio).boxed().toList();
  }

  private Set<RankId> readers(SimRequest request, int source) {
    Set<RankId> readers = new HashSet<>();
    for (int decode = 0; decode < decodeRanks; decode++) {
      if (sources(request, decode).contains(source)) {
        readers.add(decodes.get(decode).rank);
      }
    }
    return readers.isEmpty() ? Set.of(decodes.getFirst().rank) : readers;
  }

  private static RankId prefill(int rank) {
    return new RankId("prefill", rank);
  }

  private void prefilled(SimRequest request) {
    request.beginNanos = world.nanos();
    boolean up = true;
    for (SimPrefill each : world.prefills()) {
      up &= each.alive;
    }
    if (!up) {
      request.affected = true;
      request.end(Ending.FAILED);
      return;
    }
    for (int rank = 0; rank < prefillRanks; rank++) {
      int number = rank;
      SimPrefill source = world.prefill(prefill(rank));
      Set<RankId> receivers = readers(request, number);
      // ranks end their step one after another: a receiver may be faster
      world.later(number * 300_000L, () -> {
        if (source.alive) {
          source.open(request.id, request.cached % 2 == 0 ? receivers : Set.of(), request.blocks);
        }
      });
    }
    long proxy = request.fault.kind() == Kind.EXPIRE ? Duration.ofSeconds(30).toNanos() : 500_000;
    List<Incarnation> known = IntStream.range(0, prefillRanks).mapToObj(i -> world.prefill(prefill(i)).self).toList();
    world.later(proxy, () -> receive(request, known));
    strike(request, known);
  }

  private void strike(SimRequest request, List<Incarnation> known) {
    long moment = request.fault.step() * 2_000_000L;
    switch (request.fault.kind()) {
      case CANCEL -> world.later(moment, () -> {
        if (!request.begun) {
          decodes.forEach(decode -> decode.requests.reject(request.id, known).subscribe());
        }
        request.end(Ending.CANCELLED);
      });
      case KILL_PREFILL, RESTART -> world.later(moment, () -> killPrefill(request, request.fault.kind()));
      case KILL_DECODE -> world.later(moment, this::killDecode);
      default -> {
      }
    }
  }

  private void killPrefill(SimRequest request, Kind kind) {
    SimPrefill victim = world.prefill(prefill(Math.floorMod(request.id.hashCode(), prefillRanks)));
    if (!victim.alive) {
      return;
    }
    requests.stream().filter(each -> each.beginNanos > 0 && each.ends == 0).forEach(each -> each.affected = true);
    world.kill(victim.self.rank());
    world.later(kind == Kind.RESTART ? 1_000_000 : 300_000_000, () -> {
      world.start(victim.self.rank());
      decodes.forEach(decode -> world.later(world.minutes() / 10, () -> decode.requests.gone(victim.self)));
    });
  }

  private void killDecode() {
    List<SimRequest> lost = requests.stream().filter(each -> each.beginNanos > 0 && each.ends == 0).toList();
    for (SimRequest request : requests) {
      if (request.beginNanos > 0 && (request.ends == 0 || !request.slots.isEmpty())) {
        request.affected = true;
        request.slots.clear(); // the memory is gone with its process
      }
    }
    decodes.forEach(SimDecode::start);
    lost.forEach(request -> request.end(Ending.FAILED));
  }

  private void receive(SimRequest request, List<Incarnation> known) {
    if (request.ends > 0) {
      if (request.ending == Ending.FAILED) {
        decodes.forEach(decode -> decode.requests.reject(request.id, known).subscribe());
      }
      return;
    }
    request.begun = true;
    Set<Integer> pulled = new HashSet<>();
    IntStream.range(0, decodeRanks).forEach(decode -> pulled.addAll(sources(request, decode)));
    for (int number = 0; number < decodeRanks && request.ends == 0; number++) {
      SimDecode decode = decodes.get(number);
      List<Slot> slots = decode.memory.take(request.id, request.blocks);
      SimMemory memory = decode.memory;
      request.slots.put(decode, slots);
      List<Shard> shards = new ArrayList<>();
      List<Integer> sources = sources(request, number);
      for (int part = 0; part < sources.size(); part++) {
        LifecycleFault fault = part == 0 && number == 0 ? request.fault : LifecycleFault.NONE;
        GroupBlocks blocks = request.cached == request.blocks
            ? GroupBlocks.none()
            : GroupBlocks.range(request.cached, request.blocks);
        shards.add(new Shard(known.get(sources.get(part)), readers(request, sources.get(part)).size(), blocks,
            SimTransfer.mover(world, slots, part, request.fault.kind() == Kind.LATE ? request.fault : fault)));
      }
      List<Incarnation> releases = number > 0
          ? List.of()
          : IntStream.range(0, prefillRanks).filter(rank -> !pulled.contains(rank)).mapToObj(known::get).toList();
      ReceiveOrder order = new ReceiveOrder(request.id, shards, releases, () -> giveUp(request, decode, memory, slots),
          !shards.isEmpty() && request.cached < request.blocks, request.policy, DEADLINE);
      long begin = world.nanos();
      int rank = number;
      Disposable one = decode.requests.receive(order).subscribe(received -> {
        if (world.nanos() - begin > DEADLINE.plus(LifecycleWorld.OPTIONS.patience().drain().multipliedBy(3))
            .toNanos()) {
          world.violation(request.id + " ended after its deadline");
        }
        received(request, rank, sources, received);
      });
      if (request.ends == 0) {
        request.running.put(decode, one);
      }
    }
  }

  private Mono<Void> giveUp(SimRequest request, SimDecode decode, SimMemory memory,
      List<Slot> slots) {
    return Mono.fromRunnable(() -> {
      memory.free(slots);
      request.slots.remove(decode);
    });
  }

  private void received(SimRequest request, int rank, List<Integer> sources, Received received) {
    SimDecode decode = decodes.get(rank);
    request.running.remove(decode);
    List<Slot> slots = request.slots.get(decode);
    boolean keeps = received.state() == RequestState.SUCCESS || received.ending() == Ending.RECOMPUTE;
    if (keeps && slots != null) {
      verify(request, sources, slots, received);
      // the engine decodes, then frees
      SimMemory memory = decode.memory;
      world.later(5_000_000, () -> {
        if (request.slots.remove(decode, slots)) {
          memory.free(slots);
        }
      });
    }
    if (!keeps) {
      request.end(received.ending());
    } else if (++request.ready == decodeRanks) {
      request.end(received.ending());
    }
  }

  private void verify(SimRequest request, List<Integer> sources, List<Slot> slots, Received received) {
    for (int block = request.cached; block < request.blocks; block++) {
      if (received.blocks().of(0, block) != BlockOutcome.HIT) {
        continue;
      }
      for (int part = 0; part < sources.size(); part++) {
        if (slots.get(block).parts[part] != SimMemory.value(request.id, block, sources.get(part))) {
          world.violation(request.id + " has wrong bytes in block " + block + " of source " + sources.get(part));
        }
      }
    }
  }

  /// What is wrong at the end; empty if all is in order.
  List<String> violations() {
    List<String> found = new ArrayList<>(world.violations);
    for (SimRequest request : requests) {
      if (request.ends != 1) {
        found.add(request.id + " with " + request.fault + " must end once (ended " + request.ends + " times)");
      } else if (request.isHealthy() && request.ending.state() != RequestState.SUCCESS) {
        found.add(request.id + " without a fault must succeed (was " + request.ending + ")");
      }
    }
    for (SimPrefill prefill : world.prefills()) {
      requests.stream().filter(SimRequest::isHealthy).forEach(each -> {
        Release release = prefill.released.getOrDefault(each.id, Release.DONE); // of an earlier process otherwise
        if (release != Release.DONE) {
          found.add(
              each.id + " without a fault must be released when done at " + prefill.self + " (was " + release + ")");
        }
      });
      PrefillConnector.Figures figures = prefill.requests.figures();
      if (figures.held() != 0 || figures.remembered() != 0 || prefill.memory.taken() != 0) {
        found.add(prefill.self + " must hold nothing (was " + figures + ", " + prefill.memory.taken() + " slots)");
      }
    }
    for (SimDecode decode : decodes) {
      DecodeConnector.Figures figures = decode.requests.figures();
      if (figures.requests() != 0 || figures.telling() != 0 || decode.memory.taken() != 0) {
        found.add(decode.self + " must hold nothing (was " + figures + ", " + decode.memory.taken() + " slots)");
      }
    }
    return found;
  }

  /// Requests without a fault that took longer than in `clean` by more than the slices that those with one sent
  /// meanwhile.
  List<String> slowed(LifecycleSimulation clean) {
    List<String> slow = new ArrayList<>();
    for (int i = 0; i < requests.size(); i++) {
      SimRequest one = requests.get(i);
      SimRequest same = clean.requests.get(i);
      long longer = one.endNanos - one.beginNanos - (same.endNanos - same.beginNanos);
      long share = SLACK_NANOS + slicesBeside(one) * LifecycleWorld.SLICE_NANOS;
      if (one.isHealthy() && longer > share) {
        slow.add(one.id + " took " + longer / 1_000_000 + " ms longer, share " + share / 1_000_000 + " ms");
      }
    }
    return slow;
  }

  private long slicesBeside(SimRequest healthy) {
    return requests.stream()
        .filter(each -> each.affected && each.beginNanos < healthy.endNanos
            && each.endNanos > healthy.beginNanos - BUSY_NANOS)
        .mapToLong(each -> world.slices.getOrDefault(each.id, 0)).sum();
  }

  /// How the requests ended.
  Map<Ending, Integer> endings() {
    Map<Ending, Integer> endings = new EnumMap<>(Ending.class);
    requests.forEach(request -> endings.merge(request.ending, 1, Integer::sum));
    return endings;
  }
}
