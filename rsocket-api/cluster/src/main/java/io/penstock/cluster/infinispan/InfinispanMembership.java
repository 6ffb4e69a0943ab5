package io.penstock.cluster.infinispan;

import io.penstock.block.BlockKey;
import io.penstock.check.Uncaught;
import io.penstock.cluster.directory.Announcer;
import io.penstock.cluster.directory.Locate;
import io.penstock.cluster.directory.MapLoss;
import io.penstock.cluster.directory.Sweep;
import io.penstock.cluster.shared.ReplicatedTables;
import io.penstock.node.cluster.ClusterTerms;
import io.penstock.node.cluster.Membership;
import io.penstock.tier.BlockTier;
import io.penstock.wire.cluster.Located;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.SharedTable;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/// A node's place in a cluster that Infinispan keeps. Once it leaves, it knows no member and no block.
final class InfinispanMembership implements Membership {
  private static final Logger LOG = LoggerFactory.getLogger(InfinispanMembership.class);
  private static final long TICK_MILLIS = 1000;
  private static final Duration LEAVE_PATIENCE = Duration.ofSeconds(2);
  /// A node that died a moment ago may still look alive when its next start joins: tries, and the wait between two.
  private static final int NAME_TRIES = 30;
  private static final Duration NAME_WAIT = Duration.ofMillis(100);

  private final ClusterTerms terms;
  private final EmbeddedCaches caches;
  private final MemberThreads threads;
  private final ClusterEvents events;
  private final MemberTable table;
  private final OwnRecord own;
  private final Announcer announcer;
  private final Locate directory;
  private final Sweep sweep;
  private final ReplicatedTables tables;
  private final Sinks.Empty<Void> end = Sinks.empty();
  private final Sinks.One<Exception> lost = Sinks.one();
  private final Disposable.Swap ticks = Disposables.swap();
  private volatile boolean isLeaving;
  private final Mono<Void> closing = Mono.defer(this::leave).cache();

  InfinispanMembership(ClusterTerms terms, EmbeddedCaches caches, MemberThreads threads, ClusterEvents events,
      MemberTable table, OwnRecord own, Announcer announcer, Locate directory, Sweep sweep, ReplicatedTables tables) {
    this.terms = terms;
    this.caches = caches;
    this.threads = threads;
    this.events = events;
    this.table = table;
    this.own = own;
    this.announcer = announcer;
    this.directory = directory;
    this.sweep = sweep;
    this.tables = tables;
  }

  /// Enters the table of members.
  ///
  /// @return signals [NameTakenException] if another living member has this name
  Mono<Void> enter() {
    return Mono.<Void>fromCallable(() -> {
      if (table.add(own.record()) != null) {
        throw new NameTakenException(terms.cluster(), terms.node());
      }
      return null;
    }).subscribeOn(threads.writer())
        .retryWhen(Retry.fixedDelay(NAME_TRIES, NAME_WAIT).filter(NameTakenException.class::isInstance)
            .scheduler(terms.timers()).onRetryExhaustedThrow((spec, signal) -> signal.failure()))
        .doOnSuccess(done -> begin());
  }

  private void begin() {
    table.read();
    List<String> others = terms.seeds().stream().filter(seed -> !seed.equals(address())).toList();
    if (!others.isEmpty() && members().size() == 1) {
      LOG.warn("cluster {}: none of {} answers, so this node is alone until one does; a node of another cluster's name"
          + " or secret never does", terms.cluster(), others);
    }
    sweep.want();
    ticks.update(terms.timers().schedulePeriodically(() -> threads.writer().schedule(this::tick), TICK_MILLIS,
        TICK_MILLIS, TimeUnit.MILLISECONDS));
  }

  private void tick() {
    table.read();
    table.removeGone();
    tables.look();
    MemberRecord seen = table.record(terms.node());
    Mono<Void> told;
    if (seen == null) {
      told = own.write().doOnSuccess(done -> events.lose(new MapLoss.Healed()));
    } else if (seen.address().equals(own.record().address())) {
      told = own.refresh();
    } else if (seen.address().compareTo(own.record().address()) > 0) {
      told = own.write();
    } else {
      told = Mono.error(new NameTakenException(terms.cluster(), terms.node()));
    }
    told.subscribe(nothing -> {}, this::failed);
  }

  /// Two parts of a cluster that meet may both have a member of this name: one of them leaves.
  private void failed(Throwable error) {
    LOG.warn("cluster {}: {}", terms.cluster(), error.toString());
    if (error instanceof NameTakenException taken) {
      lost.tryEmitValue(taken);
      end.tryEmitError(error);
      close().subscribe(nothing -> {}, Uncaught::report);
    }
  }

  /// The engine under this place, for tests that cut it off.
  EmbeddedCaches caches() {
    return caches;
  }

  @Override
  public String cluster() {
    return terms.cluster();
  }

  @Override
  public String address() {
    return caches.address();
  }

  @Override
  public long unanswered() {
    return directory.unanswered();
  }

  @Override
  public long refused() {
    return caches.transport().refused();
  }

  @Override
  public List<Member> members() {
    return isLeaving ? List.of() : table.known().members();
  }

  @Override
  public Mono<Located> locate(List<BlockKey> keys) {
    return Mono.defer(() -> isLeaving ? Mono.just(nowhere(keys)) : directory.locate(keys))
        .onErrorResume(error -> isLeaving
            ? Mono.just(nowhere(keys))
            : Mono.error(new DirectoryBusyException(terms.cluster(), error)));
  }

  private static Located nowhere(List<BlockKey> keys) {
    return Located.of(List.of(), Collections.nCopies(keys.size(), List.of()));
  }

  @Override
  public Mono<Void> announce(BlockTier tier) {
    return announcer.announce(tier).takeUntilOther(end.asMono());
  }

  @Override
  public void tell(Member.State state) {
    own.tell(state).subscribe(nothing -> {}, this::failed);
  }

  @Override
  public Optional<Duration> toldAgo(String name) {
    return isLeaving ? Optional.empty() : table.toldAgo(name);
  }

  @Override
  public SharedTable table(String name) {
    return tables.table(name);
  }

  @Override
  public Mono<Exception> lost() {
    return lost.asMono();
  }

  @Override
  public Mono<Void> close() {
    return closing;
  }

  private Mono<Void> leave() {
    isLeaving = true;
    ticks.dispose();
    sweep.dispose();
    end.tryEmitEmpty();
    lost.tryEmitEmpty();
    return own.close().timeout(LEAVE_PATIENCE, terms.timers()).onErrorResume(error -> {
      LOG.warn("cluster {}: this member leaves without a word: {}", terms.cluster(), error.toString());
      return Mono.empty();
    }).then(Mono.<Void>fromRunnable(caches::close).subscribeOn(threads.writer())).doFinally(signal -> {
      events.close();
      threads.end();
    });
  }
}
