package io.penstock.cluster.infinispan;

import io.penstock.cluster.directory.FiguresPace;
import io.penstock.cluster.directory.Rounds;
import io.penstock.node.cluster.ClusterTerms;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.Member.Figures;
import io.penstock.wire.cluster.Member.State;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// What this member tells of itself. A record is written as a whole, as it is when the write before has ended, so a
/// later change is never overtaken by an earlier one. Safe from any thread.
final class OwnRecord implements Rounds {
  private final ClusterTerms terms;
  private final UUID address;
  private final MemberTable table;
  private final Scheduler writer;
  private final Map<Object, long[]> rounds = new LinkedHashMap<>();
  private final FiguresPace pace = new FiguresPace();
  private State state = State.UP;
  private Figures figures;
  private List<String> endpoints;
  private int reunions;
  private int tellings;
  private boolean isUntold;
  private boolean isClosed;
  /// The last write; only the writer's thread touches it.
  private CompletableFuture<?> last = CompletableFuture.completedFuture(null);

  OwnRecord(ClusterTerms terms, UUID address, MemberTable table, Scheduler writer) {
    this.terms = terms;
    this.address = address;
    this.table = table;
    this.writer = writer;
    this.figures = terms.figures().get();
    this.endpoints = List.copyOf(terms.endpoints().get());
  }

  /// The record as it was told last.
  synchronized MemberRecord record() {
    Member member = new Member(terms.node(), terms.generation(), endpoints, terms.place(), state, figures);
    return new MemberRecord(address, member, reunions,
        rounds.values().stream().flatMapToLong(LongStream::of).toArray(), tellings);
  }

  @Override
  public Mono<Void> tell(Object tier, long... valid) {
    return Mono.defer(() -> {
      synchronized (this) {
        if (valid.length == 0) {
          rounds.remove(tier);
        } else {
          rounds.put(tier, valid.clone());
        }
      }
      return write();
    });
  }

  /// Tells whether this node takes new blocks.
  Mono<Void> tell(State now) {
    return Mono.defer(() -> {
      synchronized (this) {
        state = now;
      }
      return write();
    });
  }

  /// Tells that this member met others again, from which it was split.
  Mono<Void> tellReunion() {
    return Mono.defer(() -> {
      synchronized (this) {
        reunions++;
      }
      return write();
    });
  }

  /// Tells the figures if it is time, see [FiguresPace], the endpoints if they changed, and what could not be told
  /// before.
  Mono<Void> refresh() {
    return Mono.defer(() -> {
      Figures now = terms.figures().get();
      List<String> reached = List.copyOf(terms.endpoints().get());
      int members = table.known().members().size();
      synchronized (this) {
        if (!isUntold && !pace.isDue(now, members, nanos()) && endpoints.equals(reached)) {
          return Mono.empty();
        }
      }
      return write();
    });
  }

  private long nanos() {
    return terms.timers().now(TimeUnit.NANOSECONDS);
  }

  /// Writes the newest record; nothing once this is closed.
  Mono<Void> write() {
    return Mono.defer(() -> isClosed() ? Mono.<Void>empty() : inTurn(() -> table.put(newest())))
        .doOnError(error -> setUntold(true)).doOnSuccess(done -> setUntold(false)).subscribeOn(writer);
  }

  private Mono<Void> inTurn(Supplier<CompletableFuture<?>> step) {
    last = last.handle((done, error) -> null).thenCompose(before -> step.get());
    return Mono.fromCompletionStage(last).then();
  }

  /// The record with the newest figures: whatever it is told for, they cost no message of their own.
  private MemberRecord newest() {
    Figures now = terms.figures().get();
    List<String> reached = List.copyOf(terms.endpoints().get());
    synchronized (this) {
      figures = now;
      endpoints = reached;
      tellings++;
      pace.told(now, nanos());
      return record();
    }
  }

  private synchronized void setUntold(boolean untold) {
    isUntold = untold;
  }

  private synchronized boolean isClosed() {
    return isClosed;
  }

  /// Removes the record, and writes none from now on.
  Mono<Void> close() {
    return Mono.defer(() -> {
      synchronized (this) {
        isClosed = true;
      }
      return inTurn(() -> table.remove(record()));
    }).subscribeOn(writer);
  }
}
