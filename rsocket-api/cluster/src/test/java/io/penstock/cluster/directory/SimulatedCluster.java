package io.penstock.cluster.directory;

import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.Member.Figures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Members with a [SharedMap], in one thread, under virtual time and a seed. Members die, come, and are cut off from
/// each other, or are slow; calls take time, fail, or are carried out though they failed, now or later. When two parts
/// meet again, each segment has what either of them kept of it, or both.
final class SimulatedCluster {
  /// A member that died is seen by all after this at most.
  static final Duration SEEN_DEAD = Duration.ofSeconds(2);
  /// Parts of a split see it after this at most.
  static final Duration SEEN_CUT = Duration.ofSeconds(9);
  private static final int MOST_CALL_MILLIS = 50;
  private static final int PATIENCE_MILLIS = 4000;
  private static final int LATE_MILLIS = 700;

  final VirtualTimeScheduler time;
  private final SplittableRandom random;
  private final List<Node> nodes = new ArrayList<>();
  private final Map<Set<Node>, Node[]> owners = new HashMap<>();
  private double failures;
  private int addresses;

  SimulatedCluster(VirtualTimeScheduler time, SplittableRandom random) {
    this.time = time;
    this.random = random;
  }

  /// The part of calls that fail from now on.
  void fail(double part) {
    failures = part;
  }

  /// A new member, in the part of the network numbered 0.
  Node join(String name) {
    Node node = new Node(name, addresses++);
    nodes.add(node);
    node.view = Set.of(node);
    meet(0);
    return node;
  }

  List<Node> alive() {
    return nodes.stream().filter(node -> node.isAlive).toList();
  }

  /// Whether the member of this address died at this time or later.
  boolean diedSince(long address, long millis) {
    return nodes.stream().anyMatch(node -> node.address == address && !node.isAlive && node.diedAt >= millis);
  }

  /// Calls of a member, and calls to it, take so much longer from now on.
  void slow(Node node, int millis) {
    node.slowMillis = millis;
  }

  /// Ends all slowness.
  void quicken() {
    nodes.forEach(node -> node.slowMillis = 0);
  }

  /// Ends a member without a word.
  void kill(Node node) {
    node.isAlive = false;
    node.diedAt = time.now(TimeUnit.MILLISECONDS);
    after(1000 + random.nextInt(900), () -> see(node.side));
    // Members that changed sides meanwhile miss it by its silence.
    after(SEEN_CUT.toMillis() - 500,
        () -> nodes.stream().map(each -> each.side).distinct().toList().forEach(this::see));
  }

  /// Moves a member into a part of the network.
  void cut(Node node, int side) {
    int before = node.side;
    node.side = side;
    after(6000 + random.nextInt(2500), () -> {
      see(before);
      see(side);
    });
  }

  /// Ends all cuts; parts meet a while later.
  void heal() {
    nodes.forEach(node -> node.side = 0);
    after(1000 + random.nextInt(4000), () -> meet(0));
  }

  private void after(long millis, Runnable step) {
    time.schedule(step, millis, TimeUnit.MILLISECONDS);
  }

  /// Members of a part see who is not there any more.
  private void see(int side) {
    for (Set<Node> view : views(side)) {
      Set<Node> left = view.stream().filter(node -> node.isAlive && node.side == side).collect(Collectors.toSet());
      if (!left.isEmpty() && !left.equals(view)) {
        install(left, parts(left, view), false);
      }
    }
  }

  /// The views that `left` come from, `view` first: a member of it may have one of its own, and be taken in unnoticed.
  private static List<Set<Node>> parts(Set<Node> left, Set<Node> view) {
    List<Set<Node>> parts = new ArrayList<>(List.of(view));
    sorted(left).stream().map(node -> node.view).filter(own -> !parts.contains(own)).forEach(parts::add);
    return parts;
  }

  /// All that are alive in a part of the network become one view.
  private void meet(int side) {
    List<Set<Node>> parts = new ArrayList<>(views(side));
    Set<Node> all = nodes.stream().filter(node -> node.isAlive && node.side == side).collect(Collectors.toSet());
    if (all.isEmpty() || (parts.size() == 1 && parts.get(0).equals(all))) {
      return;
    }
    install(all, parts, isReunion(parts));
  }

  private static boolean isReunion(List<Set<Node>> parts) {
    return parts.stream().filter(part -> part.stream().noneMatch(Node::isNew)).count() > 1;
  }

  private List<Set<Node>> views(int side) {
    return nodes.stream().filter(node -> node.isAlive && node.side == side).map(node -> node.view).distinct()
        .sorted(Comparator.comparingInt((Set<Node> view) -> view.size()).reversed().thenComparing(Set::toString))
        .toList();
  }

  private void install(Set<Node> view, List<Set<Node>> before, boolean isMerge) {
    BitSet lost = new BitSet();
    Map<Node, Map<BlockName, byte[]>> stores = new HashMap<>();
    view.forEach(node -> stores.put(node, new HashMap<>()));
    for (int segment = 0; segment < BlockName.SEGMENTS; segment++) {
      Node owner = owner(view, segment);
      for (Set<Node> part : before) {
        Node had = owner(part, segment);
        if (!view.contains(had)) {
          lost.set(segment);
        } else if (!isReunion(before) || random.nextInt(3) > 0) { // else what this part kept is dropped
          take(had.store, segment, stores.get(owner));
        }
      }
    }
    for (Node node : sorted(view)) {
      node.store = stores.get(node);
      node.view = view;
      node.isNew = false;
    }
    sorted(view).forEach(node -> node.heard = new LinkedHashMap<>());
    for (Node node : sorted(view)) {
      view.forEach(other -> other.heard.put(node, node.told()));
    }
    for (Node node : sorted(view)) {
      if (isMerge) {
        node.reunite();
      }
      if (!lost.isEmpty()) {
        node.losses.tryEmitNext(new MapLoss.Segments(lost));
      }
      node.see();
      node.onSegments.run();
    }
  }

  private static void take(Map<BlockName, byte[]> from, int segment, Map<BlockName, byte[]> to) {
    from.forEach((name, holders) -> {
      if (name.segment() == segment) {
        byte[] all = to.getOrDefault(name, Holders.NONE);
        for (int i = 0; i < Holders.count(holders); i++) {
          all = Holders.with(all, Holders.roundAt(holders, i), Holders.levelAt(holders, i), new long[0]);
        }
        to.put(name, all);
      }
    });
  }

  private static List<Node> sorted(Set<Node> view) {
    return view.stream().sorted(Comparator.comparingInt(node -> node.address)).toList();
  }

  private Node owner(Set<Node> view, int segment) {
    return owners.computeIfAbsent(view, this::owners)[segment];
  }

  private Node[] owners(Set<Node> view) {
    Node[] all = new Node[BlockName.SEGMENTS];
    Arrays.setAll(all, segment -> highest(view, segment));
    return all;
  }

  /// The owner by rendezvous.
  private static Node highest(Set<Node> view, int segment) {
    return view.stream().max(Comparator.comparingLong(node -> mixed(node.address * 1000L + segment))).orElseThrow();
  }

  private static long mixed(long value) {
    long mixed = (value + 1) * 0x9E3779B97F4A7C15L;
    return mixed ^ (mixed >>> 31);
  }

  /// What a member tells.
  private record Told(long[] rounds, int reunions) {}

  /// A member.
  final class Node implements SharedMap, Rounds {
    final String name;
    final int address;
    private final Sinks.Many<MapLoss> losses = Sinks.many().multicast().directBestEffort();
    private final Map<Object, long[]> rounds = new LinkedHashMap<>();
    private Map<BlockName, byte[]> store = new HashMap<>();
    private Map<Node, Told> heard = new LinkedHashMap<>();
    private Set<Node> view = Set.of();
    private final Reunion<Node> reunion = new Reunion<>();
    private int reunions;
    private int side;
    private int slowMillis;
    private boolean isNew = true;
    Runnable onMembers = () -> {};
    Runnable onSegments = () -> {};
    boolean isAlive = true;
    long diedAt;

    Node(String name, int address) {
      this.name = name;
      this.address = address;
    }

    private boolean isNew() {
      return isNew;
    }

    KnownMembers members() {
      List<Node> there = view.stream().filter(heard::containsKey).sorted(Comparator.comparing(node -> node.name))
          .toList();
      return new KnownMembers(there.stream().map(node -> new Member(node.name, node.address, List.of(), "",
          Member.State.UP, Figures.NONE)).toList(), there.stream().map(node -> heard.get(node).rounds()).toList());
    }

    private Told told() {
      return new Told(rounds.values().stream().flatMapToLong(Arrays::stream).toArray(), reunions);
    }

    private void see() {
      Map<Node, Integer> counts = new HashMap<>();
      heard.forEach((node, told) -> counts.put(node, told.reunions()));
      switch (reunion.see(view, counts)) {
        case OWN -> reunite();
        case TOLD -> losses.tryEmitNext(new MapLoss.Healed());
        case NOTHING -> {
        }
      }
      onMembers.run();
    }

    private void reunite() {
      reunions++;
      losses.tryEmitNext(new MapLoss.Healed());
      after(random.nextInt(MOST_CALL_MILLIS), () -> {
        for (Node other : sorted(view)) {
          other.heard.put(this, told());
          other.see();
        }
      });
    }

    @Override
    public Mono<Void> tell(Object tier, long... valid) {
      return Mono.defer(() -> {
        if (valid.length == 0) {
          rounds.remove(tier);
        } else {
          rounds.put(tier, valid.clone());
        }
        return call(() -> {
          for (Node other : sorted(view)) {
            other.heard.put(this, told());
            other.see();
          }
        }, Set.of());
      });
    }

    @Override
    public Mono<Void> announce(long round, int level, long[] former, List<BlockName> names) {
      return call(() -> names.forEach(name -> keeper(name).store.merge(name,
          Holders.with(Holders.NONE, round, level, former), (had, added) -> Holders.with(had, round, level, former))),
          segments(names));
    }

    @Override
    public Mono<Void> forget(long[] gone, List<BlockName> names) {
      return call(() -> names.forEach(name -> keeper(name).store.computeIfPresent(name, (key, had) -> {
        byte[] left = Holders.without(had, round -> Holders.contains(gone, round));
        return left.length == 0 ? null : left;
      })), segments(names));
    }

    @Override
    public Mono<List<byte[]>> locate(List<BlockName> names) {
      return Mono.fromSupplier(
          () -> names.stream().map(name -> keeper(name).store.getOrDefault(name, Holders.NONE)).toList());
    }

    @Override
    public Mono<long[]> unknown(LongPredicate known) {
      return Mono.fromSupplier(() -> {
        Set<Long> unknown = new TreeSet<>();
        store.values().forEach(holders -> {
          for (int i = 0; i < Holders.count(holders); i++) {
            unknown.add(Holders.roundAt(holders, i));
          }
        });
        return unknown.stream().mapToLong(round -> round).filter(round -> !known.test(round)).toArray();
      });
    }

    @Override
    public Mono<Void> purge(long[] dead) {
      return Mono.fromRunnable(() -> {
        store.replaceAll((name, holders) -> Holders.without(holders, round -> Holders.contains(dead, round)));
        store.values().removeIf(holders -> holders.length == 0);
      });
    }

    @Override
    public Flux<MapLoss> losses() {
      return losses.asFlux();
    }

    private Node keeper(BlockName name) {
      return owner(view, name.segment());
    }

    private Set<Integer> segments(List<BlockName> names) {
      Set<Integer> segments = HashSet.newHashSet(names.size());
      names.forEach(name -> segments.add(name.segment()));
      return segments;
    }

    /// A call to the keepers of `segments`: waits while one of them is not reached, and gives up some time.
    private Mono<Void> call(Runnable change, Set<Integer> segments) {
      return Mono.create(sink -> after(random.nextInt(MOST_CALL_MILLIS) + slowness(segments),
          () -> attempt(change, segments, sink, 0)));
    }

    /// That of the slowest concerned.
    private int slowness(Set<Integer> segments) {
      return Math.max(slowMillis,
          segments.stream().mapToInt(segment -> owner(view, segment).slowMillis).max().orElse(0));
    }

    private void attempt(Runnable change, Set<Integer> segments, MonoSink<Void> sink, int waited) {
      if (!isAlive) {
        return;
      }
      boolean isReached = segments.stream().map(segment -> owner(view, segment))
          .allMatch(node -> node.isAlive && node.side == side);
      if (!isReached && waited < PATIENCE_MILLIS) {
        after(100, () -> attempt(change, segments, sink, waited + 100));
      } else if (!isReached) {
        sink.error(new IllegalStateException("simulated timeout"));
      } else if (random.nextDouble() < failures) {
        switch (random.nextInt(3)) {
          case 0 -> change.run();
          case 1 -> after(random.nextInt(LATE_MILLIS), () -> {
            if (isAlive) {
              change.run();
            }
          });
          default -> {
          }
        }
        sink.error(new IllegalStateException("simulated failure"));
      } else {
        change.run();
        sink.success();
      }
    }

    @Override
    public String toString() {
      return name + "#" + address;
    }
  }
}
