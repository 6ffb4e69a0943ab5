package io.penstock.node.cluster.hot;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.KvException;
import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;
import io.penstock.block.SpaceId;
import io.penstock.check.Checks;
import io.penstock.check.Uncaught;
import io.penstock.node.cluster.task.OwnBlocks;
import io.penstock.node.cluster.task.Sending;
import io.penstock.node.text.Reason;
import io.penstock.operator.InTurn;
import io.penstock.tier.Presence;
import io.penstock.tier.TierClosedException;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.Member.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Copies of the blocks of this node that more is read of than one member is to give. Each second, for each such key:
///
/// - One holder sees to it that as many members have the block as the demand needs, 8 at most: the one that has made
///   copies of it, or that alone has it. If no holder does so for some looks, the first of the holders by name begins.
///   Readers draw among the holders, so each of them sees its part of the demand.
/// - A copy goes again when fewer holders were enough for some time, see [HotKey]. Its maker removes it, and only while
///   it has the block itself.
///
/// Copies are plain blocks: no pin, no session, and the policy there may evict them. A holder that goes, or drains, is
/// a copy fewer. When the maker goes, or loses the block, its copies stay as any block does. Two nodes that the
/// directory tells different holders may both make copies for a moment.
///
/// | | |
/// |---|---|
/// | memory | [Demand#KEYS] keys, 7 copies each |
/// | a look | one question to the directory, if any key is hot; [#MOST_A_LOOK] copies are made or removed at most |
/// | errors | a member that fails, refuses, or does not answer in time, is passed over until the next look |
public final class HotCopies {
  /// Half-life of the reads that count, for [Demand].
  public static final Duration HALF_LIFE = Duration.ofSeconds(5);
  /// Bytes a second that one holder is to give of one block, unless a node is told otherwise.
  public static final long RATE = 64L << 20;
  /// Copies that one look makes, and copies that it removes, at most.
  public static final int MOST_A_LOOK = 64;

  private static final Logger LOG = LoggerFactory.getLogger(HotCopies.class);
  private static final Duration LOOK = Duration.ofSeconds(1);
  /// How long a look waits for one member.
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int SIDE_BY_SIDE = 4;

  private final Predicate<Member> self;
  private final double rate;
  private final Demand demand;
  private final Supplier<List<OwnBlocks>> spaces;
  private final Scheduler timers;
  private final Scheduler work;
  private final Set<Start> refusing = ConcurrentHashMap.newKeySet();
  @GuardedBy("this") private final Map<BlockKey, HotKey> hot = new HashMap<>();

  /// @param self whether a member is this node
  /// @param bytesPerSecond that one holder is to give of one block
  /// @param demand what others read here
  /// @param spaces the blocks of each space that the node has now; reads of them do not count as demand
  /// @param timers for looks and patience; never used for work
  /// @param work runs the looks
  public HotCopies(Predicate<Member> self, long bytesPerSecond, Demand demand, Supplier<List<OwnBlocks>> spaces,
      Scheduler timers, Scheduler work) {
    this.self = requireNonNull(self, "self");
    this.rate = Checks.positive("bytesPerSecond", bytesPerSecond);
    this.demand = requireNonNull(demand, "demand");
    this.spaces = requireNonNull(spaces, "spaces");
    this.timers = requireNonNull(timers, "timers");
    this.work = requireNonNull(work, "work");
  }

  /// Looks each second, one look after the other.
  ///
  /// @return cold, to be subscribed once; never completes; cancel ends it, and leaves the copies
  public Mono<Void> run() {
    return Flux.interval(LOOK, timers).onBackpressureDrop()
        .concatMap(second -> look().subscribeOn(work).onErrorResume(failure -> {
          if (!isPassedOver(failure)) {
            Uncaught.report(failure);
          }
          return Mono.empty();
        }), 0).then();
  }

  /// Copies that this node has made and not removed, as far as they may be there still.
  public synchronized int copies() {
    return hot.values().stream().mapToInt(HotKey::copies).sum();
  }

  private static boolean isPassedOver(Throwable failure) {
    return failure instanceof TransientKvException || failure instanceof TierClosedException;
  }

  private Mono<Void> look() {
    return Mono.defer(() -> {
      List<OwnBlocks> now = spaces.get();
      Map<SpaceId, List<BlockKey>> keys = keys(now.stream().map(HotCopies::id).collect(Collectors.toSet()));
      return Flux.fromIterable(now).concatMap(space -> look(space, keys.getOrDefault(id(space), List.of())), 0)
          .then();
    });
  }

  private static SpaceId id(OwnBlocks space) {
    return space.own().info().space().id();
  }

  /// Keys that are hot, or have copies still, by space.
  private synchronized Map<SpaceId, List<BlockKey>> keys(Set<SpaceId> spacesNow) {
    hot.keySet().removeIf(key -> !spacesNow.contains(key.space()));
    Set<BlockKey> keys = new LinkedHashSet<>(hot.keySet());
    for (BlockKey key : demand.above(rate).keySet()) {
      if (keys.size() < Demand.KEYS) {
        keys.add(key);
      }
    }
    return keys.stream().collect(Collectors.groupingBy(BlockKey::space));
  }

  private Mono<Void> look(OwnBlocks space, List<BlockKey> keys) {
    if (keys.isEmpty()) {
      return Mono.empty();
    }
    return space.cluster().targets(space.own().info().space().layout().blockBytes())
        .filter(up -> up.stream().anyMatch(self))
        .flatMap(up -> space.cluster().located(keys).flatMap(located -> act(space, decide(keys, located, up))));
  }

  /// What a look is to do.
  private record Plan(Map<Member, List<BlockKey>> copies, Map<Member, List<BlockKey>> removals) {
    int room() {
      return MOST_A_LOOK - Stream.of(copies, removals).flatMap(all -> all.values().stream()).mapToInt(List::size).sum();
    }

    static void add(Map<Member, List<BlockKey>> to, Member at, BlockKey key) {
      to.computeIfAbsent(at, none -> new ArrayList<>()).add(key);
    }
  }

  /// @param up members that take blocks, the best one for a new block first
  private synchronized Plan decide(List<BlockKey> keys, Located located, List<Member> up) {
    Plan plan = new Plan(new LinkedHashMap<>(), new LinkedHashMap<>());
    for (int i = 0; i < keys.size(); i++) {
      List<Member> holders = located.holders(i).stream().map(holder -> located.members().get(holder.member()))
          .filter(member -> member.state() == State.UP).distinct().toList();
      decide(keys.get(i), holders, up, plan);
    }
    return plan;
  }

  @GuardedBy("this") private void decide(BlockKey key, List<Member> holders, List<Member> up, Plan plan) {
    HotKey now = hot.computeIfAbsent(key, each -> new HotKey());
    int most = Math.min(Located.MOST_HOLDERS, up.size());
    demand.scale(key, now.told(holders));
    double load = demand.rate(key) * holders.size() / rate;
    if (load > most) { // what no member can give must not be remembered for long
      demand.scale(key, most / load);
      load = most;
    }
    boolean isHolder = holders.stream().anyMatch(self);
    if (!isHolder) {
      now.forgetCopies();
    }
    int missing = now.missing(load, most);
    boolean isFirst = holders.stream().min(Comparator.comparing(Member::name)).filter(self).isPresent();
    if (isHolder && now.isActing(isFirst)) {
      up.stream().filter(member -> !now.has(member)).limit(Math.min(missing, plan.room()))
          .forEach(member -> Plan.add(plan.copies, member, key));
    }
    holders.stream().filter(now::isCopy).limit(Math.min(now.spare(), plan.room()))
        .forEach(member -> Plan.add(plan.removals, member, key));
    if (now.copies() == 0 && load <= 1) {
      hot.remove(key);
    }
  }

  private Mono<Void> act(OwnBlocks space, Plan plan) {
    Sending plain = new Sending(space.own(), false);
    Flux<Mono<Void>> copies = Flux.fromIterable(plan.copies.entrySet())
        .map(copy -> step(copy.getKey(), space.cluster().at(copy.getKey())
            .flatMap(node -> plain.to(node, copy.getValue())).doOnNext(sent -> made(copy.getKey(), sent)).then()));
    Flux<Mono<Void>> removals = Flux.fromIterable(plan.removals.entrySet())
        .map(removal -> step(removal.getKey(), remove(space, removal.getKey(), removal.getValue())));
    return InTurn.of(copies, removals).flatMap(step -> step, SIDE_BY_SIDE, 1).then();
  }

  /// `step` at one member, whose failure ends nothing else of the look. What will not pass is logged once a start.
  private Mono<Void> step(Member at, Mono<Void> step) {
    return step.timeout(PATIENCE, Mono.empty(), timers).onErrorResume(KvException.class, failure -> {
      if (!isPassedOver(failure) && refusing.add(Start.of(at))) {
        LOG.warn("member {} refuses what copies of hot blocks need: {}", at.name(), Reason.of(failure));
      }
      return Mono.empty();
    });
  }

  /// Those that the member had already are not copies of this node.
  private synchronized void made(Member at, Sending.Sent sent) {
    sent.written().forEach(key -> hot.computeIfAbsent(key, each -> new HotKey()).made(at));
  }

  private Mono<Void> remove(OwnBlocks space, Member at, List<BlockKey> copies) {
    return space.own().contains(copies).map(here -> of(copies, here)).filter(keys -> !keys.isEmpty())
        .flatMap(keys -> space.cluster().at(at).flatMap(node -> node.remove(keys))
            .doOnNext(removed -> forget(at, of(keys, removed))))
        .then();
  }

  private static List<BlockKey> of(List<BlockKey> keys, Presence some) {
    return some.bits().stream().mapToObj(keys::get).toList();
  }

  private synchronized void forget(Member at, List<BlockKey> removed) {
    for (BlockKey key : removed) {
      HotKey copied = hot.get(key);
      if (copied != null) {
        copied.forget(at);
      }
    }
  }
}
