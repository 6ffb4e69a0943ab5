package io.penstock.lab.simulate;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SliceShape;
import io.penstock.lab.simulate.Scenario.Ending;
import io.penstock.lab.simulate.Scenario.FaultPlan;
import io.penstock.lab.simulate.Scenario.NodePlan;
import io.penstock.lab.simulate.Scenario.PartyPlan;
import io.penstock.lab.simulate.Scenario.ReaderPlan;
import io.penstock.lab.simulate.Scenario.RequestPlan;
import io.penstock.lab.simulate.Scenario.SideCall;
import io.penstock.lab.simulate.Scenario.SideCallPlan;
import io.penstock.lab.simulate.Scenario.WriterPlan;
import io.penstock.lab.simulate.Scenario.Writing;
import io.penstock.node.trace.GeneratorOptions;
import io.penstock.node.trace.TraceGenerator;
import io.penstock.node.trace.TraceRequest;
import io.penstock.wire.simulate.Direction;
import io.penstock.wire.simulate.LinkFault;
import io.penstock.wire.simulate.LinkPlan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.stream.LongStream;

/// Draws a [Scenario] from its seed. The corners are likely on purpose: one block of capacity, one window of memory,
/// one slice of budget.
final class ScenarioDraw {
  private static final List<ElementType> TYPES = List.of(ElementType.BF16, ElementType.FP8_E4M3, ElementType.FP32);
  private static final List<Ending> LEAVING =
      List.of(Ending.LEAVES_BY_CLOCK, Ending.LEAVES_WHEN_FOUND, Ending.LEAVES_AFTER_SLICES);
  private static final List<Writing> FAILING =
      List.of(Writing.THROWS, Writing.SIGNALS_ERROR, Writing.ENDS_EARLY, Writing.HANGS, Writing.IS_CUT_OFF);
  private static final List<SideCall> HARMLESS =
      List.of(SideCall.CONTAINS, SideCall.MATCH, SideCall.STAT, SideCall.EVENTS);
  private static final int SPAN_MILLIS = 400;
  /// Longer than the slowest reader takes; no slice comes after this time.
  private static final Duration LONG_AWAIT = Duration.ofSeconds(600);

  private final long seed;
  private final boolean calm;
  private final boolean slowReaders;
  private final boolean leavers;
  private final boolean badWriters;

  private ScenarioDraw(long seed) {
    SeededRandom random = new SeededRandom(seed, "kinds");
    this.seed = seed;
    this.calm = random.chance(25);
    this.slowReaders = random.chance(30);
    this.leavers = !calm && random.chance(50);
    this.badWriters = !calm && random.chance(40);
  }

  static Scenario of(long seed) {
    return new ScenarioDraw(seed).draw();
  }

  private Scenario draw() {
    SeededRandom random = new SeededRandom(seed, "shape");
    CacheSpace space = space(random);
    int sliceBytes = sliceBytes(random, space.layout());
    int windowBlocks = random.oneOf(List.of(1, 2, 3, 4, 8));
    NodePlan node = node(random, windowBlocks, sliceBytes, calm);
    SliceShape.Order order = random.chance(70) ? SliceShape.Order.LAYER_FIRST : SliceShape.Order.BLOCK_FIRST;
    List<PartyPlan> decoders = parties(new SeededRandom(seed, "decoders"), space.layout(), order, 1);
    List<PartyPlan> prefillers =
        parties(new SeededRandom(seed, "prefillers"), space.layout(), order, calm ? decoders.size() : 1);
    List<RequestPlan> requests = requests(decoders.size(), prefillers.size());
    return new Scenario(seed, calm, space, node, decoders, prefillers, requests, sideCalls(decoders.size(), requests),
        faults(decoders.size() + prefillers.size()));
  }

  private static CacheSpace space(SeededRandom random) {
    int layers = random.between(1, 4);
    int tokens = random.oneOf(List.of(4, 8, 16));
    ElementType type = random.oneOf(TYPES);
    BlockLayout layout = random.chance(70)
        ? BlockLayout.attention(layers, tokens, random.oneOf(List.of(1, 2, 4)), random.oneOf(List.of(16, 32, 64)), type)
        : BlockLayout.latent(layers, tokens, random.oneOf(List.of(32, 128, 256)), 16, type);
    return new CacheSpace("simulated", random.chance(50) ? layout : layout.withOrder(TokenOrder.HND), 0,
        random.chance(20) ? "salt" : "");
  }

  /// At least the minimum of the protocol; below the size of a plane it cuts rows.
  private static int sliceBytes(SeededRandom random, BlockLayout layout) {
    int row = 4096;
    for (int granule = 0; granule < layout.planes().size(); granule++) {
      row = Math.max(row, layout.rowBytes(granule));
    }
    return Math.max(row, random.oneOf(List.of(4096, 4096, 5000, 8192, 16_384, 65_536)));
  }

  private static NodePlan node(SeededRandom random, int windowBlocks, int sliceBytes, boolean calm) {
    int capacity = random.chance(15) ? 1 : random.chance(50) ? random.between(2, 12) : random.between(12, 64);
    int reserve = random.chance(50) ? windowBlocks : windowBlocks + random.between(0, 16);
    Duration impatient = random.millis(200, 2_000);
    return new NodePlan(capacity, reserve, random.chance(85) ? EvictionPolicy.LRU : EvictionPolicy.FIFO,
        random.chance(80),
        windowBlocks,
        sliceBytes, random.chance(30) ? 1 : random.between(2, 32), random.between(1, 3), calm ? LONG_AWAIT : impatient,
        random.chance(30) ? 64 : 4_096);
  }

  /// @param streams how many windows each has memory for at least; with fewer than it has puts at a time, one put can
  ///     hold the node's ingress budget while it waits for memory that another holds, which then waits for the budget:
  ///     only a time limit ends that
  private static List<PartyPlan> parties(SeededRandom random, BlockLayout layout, SliceShape.Order order, int streams) {
    List<PartyPlan> parties = new ArrayList<>();
    int count = random.chance(40) ? 1 : random.between(2, 4);
    for (int i = 0; i < count; i++) {
      int windowBlocks = random.oneOf(List.of(1, 2, 4, 8, 64));
      int most = Math.min(windowBlocks, 8) * streams;
      parties.add(
          new PartyPlan(windowBlocks, sliceBytes(random, layout),
              random.chance(40) ? most : most + random.between(0, 24),
              random.chance(30) ? 1 : random.between(2, 32), random.between(1, 16), order));
    }
    return parties;
  }

  private List<RequestPlan> requests(int decoders, int prefillers) {
    SeededRandom random = new SeededRandom(seed, "requests");
    int count = random.between(3, 16);
    List<List<Long>> ids = random.chance(25) ? trace(count) : conversations(random, count);
    List<RequestPlan> requests = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      requests.add(new RequestPlan(i, random.between(0, decoders - 1), random.between(0, prefillers - 1), ids.get(i),
          random.chance(50) ? Duration.ZERO : random.millis(0, 30), reader(random), writer(random)));
    }
    return requests;
  }

  /// Requests of the generated trace, their first blocks.
  private List<List<Long>> trace(int count) {
    TraceGenerator generator = new TraceGenerator(GeneratorOptions.defaults().withRequests(count).withSeed(seed));
    List<List<Long>> ids = new ArrayList<>();
    for (TraceRequest request = generator.next(); request != null; request = generator.next()) {
      ids.add(request.hashIds().subList(0, Math.min(16, request.blocks())));
    }
    return ids;
  }

  /// A few conversations that grow, all with an equal beginning.
  private static List<List<Long>> conversations(SeededRandom random, int count) {
    int shared = random.between(0, 6);
    int[] lengths = new int[random.between(1, 4)];
    List<List<Long>> ids = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int conversation = random.between(0, lengths.length - 1);
      lengths[conversation] = Math.min(10, lengths[conversation] + random.between(0, 4));
      LongStream own = LongStream.range(0, lengths[conversation]).map(block -> 1_000L * (conversation + 1) + block);
      List<Long> all = LongStream.concat(LongStream.range(0, shared), own).boxed().toList();
      ids.add(all.isEmpty() ? List.of(7L) : all);
    }
    return ids;
  }

  private ReaderPlan reader(SeededRandom random) {
    boolean slow = slowReaders && random.chance(40);
    Ending ending = leavers && random.chance(30) ? random.oneOf(LEAVING) : Ending.READS_ALL;
    int after = ending == Ending.LEAVES_BY_CLOCK ? random.between(0, 20_000) : random.between(1, 12);
    return slow
        ? new ReaderPlan(random.between(1, 2), random.millis(1, 300), ending, after)
        : new ReaderPlan(random.oneOf(List.of(1, 4, 64, Integer.MAX_VALUE)), Duration.ZERO, ending, after);
  }

  private WriterPlan writer(SeededRandom random) {
    return new WriterPlan(badWriters && random.chance(30) ? random.oneOf(FAILING) : Writing.WHOLE,
        random.between(0, 6));
  }

  private List<SideCallPlan> sideCalls(int decoders, List<RequestPlan> requests) {
    SeededRandom random = new SeededRandom(seed, "errands");
    List<SideCallPlan> sideCalls = new ArrayList<>();
    int count = random.chance(50) ? 0 : random.between(1, 8);
    for (int i = 0; i < count; i++) {
      SideCall sideCall = random.oneOf(calm ? HARMLESS : List.of(SideCall.values()));
      LinkedHashSet<Long> ids = new LinkedHashSet<>();
      for (int j = random.between(1, 6); j > 0; j--) {
        ids.add(random.oneOf(random.oneOf(requests).ids()));
      }
      sideCalls.add(
          new SideCallPlan(random.millis(0, SPAN_MILLIS), random.between(0, decoders - 1), sideCall, List.copyOf(ids)));
    }
    return sideCalls;
  }

  private FaultPlan faults(int parties) {
    SeededRandom random = new SeededRandom(seed, "faults");
    Duration latency = random.micros(0, random.chance(80) ? 500 : 20_000);
    Duration jitter = random.micros(0, random.chance(50) ? 0 : 3_000);
    long bytesPerSecond = random.oneOf(List.of(50_000_000L, 200_000_000L, 1_000_000_000L, 10_000_000_000L));
    LinkPlan link = LinkPlan.quiet().withLatency(latency, latency.plus(jitter)).withBytesPerSecond(bytesPerSecond)
        .withWindowBytes(random.oneOf(List.of(1, 16 << 10, 4 << 20))).withCopies(random.chance(50));
    List<List<LinkFault>> faults = new ArrayList<>();
    boolean badLinks = !calm && random.chance(70);
    boolean corrupts = random.chance(50);
    for (int i = 0; badLinks && i < parties + 4; i++) {
      faults.add(faults(random, random.chance(50) ? random.between(1, 3) : 0, corrupts));
    }
    List<Duration> restarts = new ArrayList<>();
    for (int i = !calm && random.chance(20) ? random.between(1, 2) : 0; i > 0; i--) {
      restarts.add(random.micros(0, SPAN_MILLIS * 1_000));
    }
    return new FaultPlan(link, faults, restarts);
  }

  private static List<LinkFault> faults(SeededRandom random, int count, boolean corrupts) {
    List<LinkFault> faults = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Direction direction = random.chance(50) ? Direction.UP : Direction.DOWN;
      int frame = random.between(0, random.chance(50) ? 12 : 150);
      faults.add(switch (random.between(0, corrupts ? 5 : 2)) {
        case 0 ->
          new LinkFault.Stall(direction, frame,
              random.chance(80) ? random.millis(1, 500) : random.millis(1_000, 40_000));
        case 1 -> new LinkFault.Cut(direction, frame);
        case 2 -> new LinkFault.HalfClose(direction, frame);
        default -> new LinkFault.CorruptByte(direction, frame,
            random.chance(50) ? random.between(0, 120) : random.between(0, 1 << 20));
      });
    }
    return faults;
  }
}
