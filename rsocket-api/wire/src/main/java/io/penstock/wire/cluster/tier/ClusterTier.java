package io.penstock.wire.cluster.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SliceShape;
import io.penstock.block.SpaceId;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionPage;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.cluster.ClusterDirectory;
import io.penstock.wire.cluster.ClusterView;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.place.Placement;
import io.penstock.wire.transport.Endpoint;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/// The nodes of a cluster as one tier.
///
/// | Call | Round trips, whatever the number of nodes |
/// |---|---|
/// | match, contains | one to any node, for who has the keys; one to each of those, side by side, who alone know it |
/// | lease | one to any node; then one for each run of keys that follow one another at an owner, 16 side by side |
/// | put | one to any node, for what is there already; then as a put to one node |
///
/// The bytes of a lease come straight from the owners, run by run, in the order of the keys.
///
/// What the cluster says of a block may be out of date: then the block is a miss, and never wrong bytes. A member that
/// goes while its blocks are read is replaced by members that have the same blocks; blocks that no other has are
/// left out of the stream. A member that cannot be reached is passed over.
///
/// New blocks go behind a prefix that is at least as long, so that a conversation stays at one node, unless that node
/// is full and another one is not; else to a near node with room, see
/// [io.penstock.wire.cluster.place.Placement]. The receipt is that node's; of several copies, see [Spread], it names
/// all nodes that have one. Work in this process does not grow with the number of members, but when their list has
/// changed.
///
/// Blocks that a put replaces are removed at all nodes first, for the new ones may go to another node: for a moment
/// there is neither.
///
/// [OnMiss#ADMIT] admits nothing: policies decide at each node.
public final class ClusterTier implements BlockTier {
  private static final SecureRandom NAMES = new SecureRandom();

  private final TierInfo info;
  private final Nodes nodes;
  private final Nearest nearest;
  private final Placement placement;
  private final PrefixEnds ends = new PrefixEnds();
  private final ClusterPuts puts;
  private final LongAdder missingCopies = new LongAdder();
  private final Scheduler timers;
  private final Scheduler work;
  private final Sinks.Empty<Void> closing = Sinks.empty();
  private volatile boolean closed;

  /// Spreads new blocks by the defaults.
  ClusterTier(TierInfo info, Nodes nodes, String place, RandomGenerator random, Scheduler timers, Scheduler work) {
    this(info, nodes, place, random, timers, work, Spread.defaults());
  }

  /// @param info of the cluster
  /// @param place of this process, see [Member#place()]
  /// @param random draws among members that are equally good
  /// @param timers of looks for members that come and go
  /// @param work runs the steps of event streams
  /// @param spread of new blocks
  ClusterTier(TierInfo info, Nodes nodes, String place, RandomGenerator random, Scheduler timers, Scheduler work,
      Spread spread) {
    this.info = info;
    this.nodes = spread.exact() ? new ExactNodes(nodes) : nodes;
    this.nearest = new Nearest(place, random);
    this.placement = new Placement(place, random, () -> timers.now(TimeUnit.MILLISECONDS));
    this.puts = new ClusterPuts(info, this.nodes, nearest, placement, ends, spread, missingCopies);
    this.timers = timers;
    this.work = work;
  }

  /// Connects to a cluster through any of its nodes.
  ///
  /// @param seeds any nodes of the cluster
  /// @param connecting cold; connects to a node, for blocks of `space`
  /// @param place of this process, see [Member#place()]
  /// @param timers for pauses, and for looks at who is there; never used for work
  /// @param work runs the steps of event streams, which may be long; stays the caller's
  /// @param random draws among members that are equally good, and jitter
  /// @param spread of new blocks
  /// @return cold; signals [UnreachableException] if no seed answers
  public static Mono<ClusterTier> connect(List<Endpoint> seeds, Function<Endpoint, Mono<KvClient>> connecting,
      CacheSpace space, String place, Scheduler timers, Scheduler work, RandomGenerator random, Spread spread) {
    return Mono.defer(() -> {
      WireNodes nodes = new WireNodes(seeds, new Peers(connecting, space, timers, random));
      return nodes.view().map(view -> new ClusterTier(info(view, space), nodes, place, random, timers, work, spread))
          .onErrorResume(failure -> nodes.close().then(Mono.error(failure)))
          .doOnCancel(() -> nodes.close().subscribe());
    });
  }

  /// The cluster as one of its nodes sees it.
  ///
  /// @param directory of the node
  /// @param self whether a member is this node
  /// @param own blocks of this node; they stay the caller's
  /// @param connecting cold; connects to another node, for blocks of the space of `own`
  /// @param place of this node, see [Member#place()]
  /// @param timers for pauses, and for looks at who is there; never used for work
  /// @param work runs the steps of event streams, which may be long; stays the caller's
  /// @param random draws among members that are equally good, and jitter
  public static ClusterTier within(ClusterDirectory directory, Predicate<Member> self, BlockTier own,
      Function<Endpoint, Mono<KvClient>> connecting, String place, Scheduler timers, Scheduler work,
      RandomGenerator random) {
    CacheSpace space = own.info().space();
    return new ClusterTier(info(new ClusterView(directory.cluster(), directory.members()), space),
        new OwnNodes(directory, self, own, new Peers(connecting, space, timers, random)), place, random, timers,
        work);
  }

  /// The members, as far as they are known.
  public Mono<List<Member>> members() {
    return open(nodes.members());
  }

  /// Members that say that they have the blocks of `keys`.
  public Mono<Located> located(List<BlockKey> keys) {
    return open(nodes.locate(BlockKey.distinct(keys, space())));
  }

  /// The blocks of one member. Signals a transient failure if it cannot be reached, or has started again since.
  public Mono<BlockTier> at(Member member) {
    return open(nodes.node(member));
  }

  /// All members that take blocks, in the order in which new blocks would try them. Looks at all of them; a put does
  /// not.
  ///
  /// @param bytes of the new blocks
  public Mono<List<Member>> targets(long bytes) {
    return members().map(members -> placement.order(members, bytes));
  }

  /// Copies of blocks with a receipt that were asked for by [Spread#copies()] and not made, since this tier is there:
  /// too few members could be reached, or one ended in the middle, or the block was reserved, which makes one copy.
  public long missingCopies() {
    return missingCopies.sum();
  }

  /// The cluster as it is now; its capacity is that of the members that are there.
  private static TierInfo info(ClusterView view, CacheSpace space) {
    long bytes = 0;
    for (Member member : view.members()) {
      long more = bytes + member.figures().capacityBytes();
      bytes = more < 0 ? Long.MAX_VALUE : more;
    }
    return new TierInfo("cluster " + view.cluster(), Medium.REMOTE, space,
        Math.max(1, bytes == Long.MAX_VALUE ? bytes : bytes / space.layout().blockBytes()));
  }

  @Override
  public TierInfo info() {
    return info;
  }

  private SpaceId space() {
    return info.space().id();
  }

  /// What the cluster says of `keys`, as a request that goes to the members.
  private Mono<Asked> asked(List<BlockKey> keys) {
    return Asked.of(nodes, nearest, keys);
  }

  private <T> Mono<T> open(Mono<T> call) {
    return Mono.defer(() -> closed ? Mono.error(closedException()) : call)
        .onErrorMap(failure -> closed && Asked.isPassedOver(failure) ? closedException() : failure);
  }

  private TierClosedException closedException() {
    return new TierClosedException(info.name());
  }

  @Override
  public Mono<Integer> match(List<BlockKey> keys) {
    List<BlockKey> asked = BlockKey.distinct(keys, space());
    return open(asked.isEmpty()
        ? Mono.just(0)
        : nodes.locate(asked).flatMap(located -> {
          List<BlockKey> prefix = asked.subList(0, prefix(located));
          return prefix.isEmpty()
              ? Mono.just(0)
              : Asked.of(nodes, nearest, prefix, first(located, prefix.size())).present(BlockTier::contains)
                  .map(Presence::prefix);
        }));
  }

  static int prefix(Located located) {
    int prefix = 0;
    while (prefix < located.size() && located.isHeld(prefix)) {
      prefix++;
    }
    return prefix;
  }

  static Located first(Located located, int keys) {
    List<List<Located.Holder>> holders = new ArrayList<>(keys);
    for (int i = 0; i < keys; i++) {
      holders.add(located.holders(i));
    }
    return Located.of(located.members(), holders);
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys) {
    List<BlockKey> all = BlockKey.distinct(keys, space());
    return open(asked(all).flatMap(asked -> asked.present(BlockTier::contains)
        .doOnNext(present -> ends.learn(all, asked.remaining().located(), present))));
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys, Durability durability) {
    List<BlockKey> all = BlockKey.distinct(keys, space());
    return open(asked(all).flatMap(asked -> asked.present((node, part) -> node.contains(part, durability))));
  }

  /// Runs of blocks that are at one member each; the level is that of the member's fastest copy.
  @Override
  public Mono<List<Run>> locate(List<BlockKey> keys) {
    List<BlockKey> all = BlockKey.distinct(keys, space());
    return open(nodes.locate(all).map(located -> {
      List<Run> runs = new ArrayList<>();
      Located prefix = first(located, prefix(located));
      new Remaining(prefix, nearest.ranks(located.members())).runs().forEach(run -> runs.add(
          new Run(level(located, run), located.members().get(run.member()).name(), run.positions().length)));
      return runs;
    }));
  }

  private static int level(Located located, KeyRun run) {
    return located.holders(run.positions()[0]).stream().filter(holder -> holder.member() == run.member())
        .mapToInt(Located.Holder::level).min().orElse(0);
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    return lease(keys, onMiss, null, scope);
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, @Nullable SessionUse session, BlockScope scope) {
    List<BlockKey> all = BlockKey.distinct(keys, space());
    OnMiss there = requireNonNull(onMiss, "onMiss") == OnMiss.AWAIT ? OnMiss.AWAIT : OnMiss.SKIP;
    return open(asked(all)
        .flatMap(asked -> MemberLeases.decide(asked, there, session, info.space().layout(), scope)));
  }

  @Override
  public Mono<Boolean> session(SessionUse session, SessionState state) {
    return open(everywhere(node -> node.session(session, state)).any(known -> known));
  }

  /// All blocks of the session at once, whatever `most` is, from all members.
  @Override
  public Mono<SessionPage> sessionKeys(SessionId session, @Nullable BlockKey after, int most) {
    if (after != null) {
      return open(Mono.empty());
    }
    return open(everywhere(node -> node.sessionKeys(session, null, most).expand(page -> page.next() == null
        ? Mono.empty()
        : node.sessionKeys(session, page.next(), most)).collectList()).collectList().flatMap(pages -> {
          Set<BlockKey> all = new LinkedHashSet<>();
          boolean known = false;
          for (List<SessionPage> one : pages) {
            known |= !one.isEmpty();
            one.forEach(page -> all.addAll(page.keys()));
          }
          return known ? Mono.just(new SessionPage(List.copyOf(all), null)) : Mono.empty();
        }));
  }

  /// The answers of all members that can be reached.
  private <T> Flux<T> everywhere(Function<BlockTier, Mono<T>> question) {
    return nodes.members().flatMapIterable(members -> members)
        .flatMap(member -> nodes.node(member).flatMap(question)
            .onErrorResume(Asked::isPassedOver, gone -> Mono.empty()), Asked.SIDE_BY_SIDE, 1);
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return reserve(keys, PutTerms.plain(), scope);
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
    List<BlockKey> all = BlockKey.distinct(keys, space());
    return open(puts.reserve(all, terms, scope));
  }

  @Override
  public Flux<Receipt> put(List<BlockKey> keys, PutTerms terms, SliceShape shape, PutSource source) {
    List<BlockKey> all = BlockKey.distinct(keys, space());
    shape.requireWholeBlocks();
    return Flux.defer(() -> closed ? Flux.error(closedException()) : puts.put(all, terms, shape, source))
        .onErrorMap(failure -> closed && Asked.isPassedOver(failure) ? closedException() : failure);
  }

  /// Removes blocks at every member that has them.
  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    List<BlockKey> all = BlockKey.distinct(keys, space());
    return open(puts.remove(all));
  }

  /// Holds at the members, under one id for each lease.
  @Override
  public TierHolds holds(Object party) {
    return new ClusterHolds(this::open, info.space(), nodes, nearest, party, timers, NAMES::nextLong);
  }

  /// Changes of the whole cluster from now on: it keeps no log, so the past is told as skipped.
  @Override
  public Flux<TierEvent> events(long sequence) {
    return ClusterEvents.changes(watched(), sequence);
  }

  /// All blocks of the cluster, and then their changes. Each subscription keeps the keys of all blocks in memory, with
  /// the members that have them: some 200 bytes a block. So does each of [#events].
  @Override
  public Flux<TierEvent> follow() {
    return watched().stream();
  }

  private ClusterEvents watched() {
    return new ClusterEvents(nodes, timers, work, closing.asMono(), closed ? closedException() : null);
  }

  /// Sums over the members that can be reached.
  @Override
  public Mono<TierStat> stat() {
    return open(everywhere(BlockTier::stat).reduce(ClusterStat.NONE, ClusterStat::plus).map(ClusterStat::stat));
  }

  /// Drops the connections; the nodes go on.
  @Override
  public Mono<Void> close() {
    return Mono.defer(() -> {
      closed = true;
      closing.tryEmitEmpty();
      return nodes.close();
    });
  }
}
