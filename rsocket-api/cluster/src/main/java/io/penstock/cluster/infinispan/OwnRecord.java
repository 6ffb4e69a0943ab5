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
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// What this member tells of itself. Each change is written by one thread, in order, and a record is always written as
/// a whole. Safe from any thread.
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
  private boolean isUntold;
  private boolean isClosed;

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
        rounds.values().stream().flatMapToLong(LongStream::of).toArray());
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
    return Mono.defer(() -> isClosed() ? Mono.<Void>empty() : Mono.fromCompletionStage(table.put(newest())).then())
        .doOnError(error -> setUntold(true)).doOnSuccess(done -> setUntold(false)).subscribeOn(writer);
  }

  /// The record with the newest figures: whatever it is told for, they cost no message of their own.
  private MemberRecord newest() {
    Figures now = terms.figures().get();
    List<String> reached = List.copyOf(terms.endpoints().get());
    synchronized (this) {
      figures = now;
      endpoints = reached;
      pace.told(now, nanos());
    }
    return record();
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
      return Mono.fromCompletionStage(table.remove(record())).then();
    }).subscribeOn(writer);
  }
}
