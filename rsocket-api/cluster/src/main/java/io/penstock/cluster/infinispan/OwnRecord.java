package io.penstock.cluster.infinispan;

import io.penstock.cluster.directory.Rounds;
import io.penstock.node.cluster.ClusterTerms;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.cluster.Member.Figures;
import io.penstock.wire.cluster.Member.State;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.LongStream;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// What this member tells of itself. Each change is written by one thread, in order, and a record is always written as
/// a whole. Safe from any thread.
final class OwnRecord implements Rounds {
  /// The part of the capacity by which the bytes must have changed to be told: one in so many.
  private static final long MUCH = 100;
  /// The part by which the age of the next victim must have changed to be told: one in so many.
  private static final long IDLE_MUCH = 10;
  /// Refreshes after which a record is told anyway.
  private static final int ALL_EACH = 10;

  private final ClusterTerms terms;
  private final UUID address;
  private final MemberTable table;
  private final Scheduler writer;
  private final Map<Object, long[]> rounds = new LinkedHashMap<>();
  private State state = State.UP;
  private Figures told;
  private List<String> endpoints;
  private int reunions;
  private int refreshes;
  private int tellings;
  private boolean isUntold;
  private boolean isClosed;

  OwnRecord(ClusterTerms terms, UUID address, MemberTable table, Scheduler writer) {
    this.terms = terms;
    this.address = address;
    this.table = table;
    this.writer = writer;
    this.told = terms.figures().get();
    this.endpoints = List.copyOf(terms.endpoints().get());
  }

  /// The newest record.
  synchronized MemberRecord record() {
    Member member = new Member(terms.node(), terms.generation(), endpoints, terms.place(), state, told);
    return new MemberRecord(address, member, reunions,
        rounds.values().stream().flatMapToLong(LongStream::of).toArray(), tellings);
  }

  private synchronized MemberRecord next() {
    tellings++;
    return record();
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

  /// Tells the figures if they changed much since they were told, the endpoints if they changed, and what could not be
  /// told before. Tells all now and then: when parts of a cluster meet, a record may be lost at some members.
  Mono<Void> refresh() {
    return Mono.defer(() -> {
      Figures now = terms.figures().get();
      List<String> reached = List.copyOf(terms.endpoints().get());
      synchronized (this) {
        if (!isUntold && ++refreshes % ALL_EACH != 0 && !hasChanged(told, now) && endpoints.equals(reached)) {
          return Mono.empty();
        }
        told = now;
        endpoints = reached;
      }
      return write();
    });
  }

  private static boolean hasChanged(Figures before, Figures now) {
    return before.inFlightBytes() != now.inFlightBytes() || before.capacityBytes() != now.capacityBytes()
        || Math.abs(before.bytes() - now.bytes()) >= Math.max(1, now.capacityBytes() / MUCH)
        || Math.abs(before.idleMillis() - now.idleMillis()) * IDLE_MUCH >= Math.max(1, before.idleMillis());
  }

  /// Writes the newest record; nothing once this is closed.
  Mono<Void> write() {
    return Mono.defer(() -> isClosed() ? Mono.<Void>empty() : Mono.fromCompletionStage(table.put(next())).then())
        .doOnError(error -> setUntold(true)).doOnSuccess(done -> setUntold(false)).subscribeOn(writer);
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
