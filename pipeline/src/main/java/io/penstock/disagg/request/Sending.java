package io.penstock.disagg.request;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.check.Uncaught;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.request.RequestAnswer.Outcome;
import io.penstock.disagg.request.Signal.Kind;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// One request on a prefill rank: its lease, and the receivers that are not done yet.
final class Sending extends TimerWheel.Timer {
  /// Receivers of one request that are remembered if it is not known which there are: more than any instance has ranks.
  private static final int MOST_RECEIVERS = 1 << 16;

  private enum Phase {
    /// Only signals have arrived.
    EARLY,
    /// Blocks are kept.
    OPEN,
    /// The end is known; reads drain.
    DRAINING,
    /// Remembered, so that late signals are known as such.
    OVER,
    /// The request is in no table any more.
    FORGOTTEN
  }

  private final PrefillConnector owner;
  private final String request;
  private final Sinks.Empty<Void> drained = Sinks.empty();

  /// Time of the last move, or of the last renewal by a receiver.
  private volatile long renewedNanos;
  private volatile RequestState state = RequestState.BOOTSTRAPPING;

  @GuardedBy("this") private Phase phase = Phase.EARLY;
  /// Places that this takes among the early signals.
  @GuardedBy("this") private int early;
  /// Last signal of each receiver.
  @GuardedBy("this") private final Map<RankId, Heard> heard = new HashMap<>(2);
  /// Empty if they are not known.
  @GuardedBy("this") private Set<RankId> receivers = Set.of();
  /// Number of receivers, as the first of them stated it.
  @GuardedBy("this") private int readers = Integer.MAX_VALUE;
  @GuardedBy("this") private HeldBlocks blocks = HeldBlocks.none();
  @GuardedBy("this") private @Nullable Release release;
  @GuardedBy("this") private long sinceNanos;

  /// @param isDone whether it needs nothing more
  private record Heard(long generation, boolean isDone) {}

  Sending(PrefillConnector owner, String request) {
    this.owner = owner;
    this.request = request;
  }

  String request() {
    return request;
  }

  /// @param wanted empty if they are not known
  /// @return null if this has been forgotten
  @Nullable RequestAnswer open(Set<RankId> wanted, HeldBlocks held) {
    boolean ends;
    synchronized (this) {
      if (phase == Phase.FORGOTTEN) {
        return null;
      } else if (phase == Phase.OPEN && receivers.equals(wanted) && owner.inputs().areSame(held, blocks)) {
        return RequestAnswer.of(Outcome.REPEATED);
      } else if (phase != Phase.EARLY) {
        throw new IllegalArgumentException("request must be new (%s %s)".formatted(request,
            phase == Phase.OPEN ? "is kept, with other blocks or receivers" : "has ended already"));
      }
      owner.leaveEarly(early);
      owner.opened();
      phase = Phase.OPEN;
      receivers = wanted;
      if (!wanted.isEmpty()) {
        heard.keySet().retainAll(wanted);
      }
      blocks = held;
      sinceNanos = owner.now();
      renewedNanos = sinceNanos;
      ends = release != null || isDone();
    }
    watch();
    return ends ? RequestAnswer.over(end(Release.DONE)) : RequestAnswer.of(Outcome.APPLIED);
  }

  /// Whether this is open for `wanted` with blocks that `same` accepts.
  synchronized boolean isOpen(Set<RankId> wanted, Predicate<HeldBlocks> same) {
    return phase == Phase.OPEN && receivers.equals(wanted) && same.test(blocks);
  }

  /// Looks at this again when it ends, as far as is known now.
  private void watch() {
    long moment;
    synchronized (this) {
      moment = endNanos();
    }
    owner.wheel().add(this, moment);
  }

  private synchronized long sinceNanos() {
    return sinceNanos;
  }

  void renew() {
    renewedNanos = owner.now();
    RequestState before = state;
    if (before == RequestState.BOOTSTRAPPING || before == RequestState.WAITING_FOR_INPUT) {
      state = RequestState.TRANSFERRING;
    }
    if (before == RequestState.BOOTSTRAPPING) {
      watch(); // a lease may be shorter than the time for the first sign
    }
  }

  /// @return the answer; null if this has been forgotten
  @Nullable Mono<RequestAnswer> hear(Signal signal) {
    boolean ends;
    boolean isFirst;
    Outcome outcome;
    synchronized (this) {
      if (phase == Phase.FORGOTTEN) {
        return null;
      } else if (release != null && (phase == Phase.DRAINING || phase == Phase.OVER)) {
        owner.late();
        return answer(signal.kind(), RequestAnswer.over(release));
      } else if (phase == Phase.EARLY && !list()) {
        return answer(RequestAnswer.of(Outcome.FULL));
      }
      outcome = admit(signal);
      if (outcome != Outcome.APPLIED) {
        return answer(RequestAnswer.of(outcome));
      }
      RequestState before = state;
      boolean repeats = signal.kind() == Kind.DONE && isDone(signal.from().rank());
      ends = hear(signal.kind(), signal.from()) && phase == Phase.OPEN;
      isFirst = before == RequestState.BOOTSTRAPPING && state != before && phase == Phase.OPEN;
      outcome = phase == Phase.EARLY ? Outcome.EARLY : repeats ? Outcome.REPEATED : Outcome.APPLIED;
    }
    if (ends) {
      end(Release.DONE);
    } else if (isFirst) {
      watch();
    }
    return answer(signal.kind(), RequestAnswer.of(outcome));
  }

  private Mono<RequestAnswer> answer(Kind kind, RequestAnswer answer) {
    Mono<RequestAnswer> told = answer(answer);
    return isCancel(kind) ? drainedOrEarly().then(told) : told;
  }

  private Mono<RequestAnswer> answer(RequestAnswer answer) {
    owner.inputs().answered(request, answer);
    return Mono.just(answer);
  }

  @GuardedBy("this") private boolean isDone(RankId receiver) {
    Heard before = heard.get(receiver);
    return before != null && before.isDone();
  }

  private synchronized Mono<Void> drainedOrEarly() {
    return phase == Phase.EARLY || phase == Phase.FORGOTTEN ? Mono.empty() : drained.asMono();
  }

  private static boolean isCancel(Kind kind) {
    return kind == Kind.CANCEL || kind == Kind.REJECT;
  }

  /// Enters the table of early requests for a time; false if there is no room.
  @GuardedBy("this") private boolean list() {
    if (early == 0) {
      sinceNanos = owner.now();
      if (owner.enterEarly()) {
        early = 1;
        owner.wheel().add(this, sinceNanos + owner.options().lease().remembered().toNanos());
      } else {
        phase = Phase.FORGOTTEN;
        owner.forget(this);
      }
    }
    return early > 0;
  }

  /// Whether `signal` counts: it comes from a receiver without a known later start, and there is room to remember that
  /// receiver. A cancel needs no room: a cancel of any receiver ends the request.
  ///
  /// @return [Outcome#APPLIED] if it counts, else why not
  @GuardedBy("this") private Outcome admit(Signal signal) {
    Incarnation from = signal.from();
    Heard before = heard.get(from.rank());
    if (!receivers.isEmpty() && !receivers.contains(from.rank())) {
      owner.stranger();
      return Outcome.STRANGER;
    } else if (before != null && before.generation() > from.generation()) {
      owner.late();
      return Outcome.STALE;
    } else if (isCancel(signal.kind())) {
      return Outcome.APPLIED;
    }
    readers = readers == Integer.MAX_VALUE ? signal.readers() : readers;
    if (before == null && !hasRoom()) {
      owner.stranger();
      return phase == Phase.EARLY ? Outcome.FULL : Outcome.STRANGER;
    } else if (before == null || before.generation() < from.generation()) {
      heard.put(from.rank(), new Heard(from.generation(), false));
    }
    return Outcome.APPLIED;
  }

  /// Takes room for one more receiver.
  @GuardedBy("this") private boolean hasRoom() {
    if (heard.size() >= Math.min(wanted(), MOST_RECEIVERS)) {
      return false;
    } else if (phase == Phase.EARLY && !heard.isEmpty()) { // the first has the place of the request
      boolean enters = owner.enterEarly();
      early += enters ? 1 : 0;
      return enters;
    }
    return true;
  }

  /// @return whether this ends the request, if it is open
  @GuardedBy("this") private boolean hear(Kind kind, Incarnation from) {
    return switch (kind) {
      case RENEW -> {
        renewedNanos = owner.now();
        state = state.after(RequestState.WAITING_FOR_INPUT);
        yield false;
      }
      case DONE -> {
        Heard before = heard.put(from.rank(), new Heard(from.generation(), true));
        if (before != null && before.isDone()) {
          owner.duplicate();
        }
        yield isDone();
      }
      case CANCEL, REJECT -> {
        release = kind == Kind.CANCEL ? Release.CANCELLED : Release.REJECTED;
        yield true;
      }
    };
  }

  @GuardedBy("this") private boolean isDone() {
    int wanted = wanted();
    return heard.size() >= wanted && heard.values().stream().filter(Heard::isDone).count() >= wanted;
  }

  /// Returns the number of receivers, or the largest integer if it is not known.
  @GuardedBy("this") private int wanted() {
    return receivers.isEmpty() ? readers : receivers.size();
  }

  RequestAnswer withdraw() {
    synchronized (this) {
      if (release != null && (phase == Phase.DRAINING || phase == Phase.OVER)) {
        return RequestAnswer.over(release);
      } else if (phase != Phase.OPEN) {
        return RequestAnswer.of(Outcome.UNKNOWN);
      }
    }
    return end(Release.WITHDRAWN) == Release.WITHDRAWN ? RequestAnswer.of(Outcome.APPLIED) : withdraw();
  }

  /// Ends an open request, for the reason given by a receiver if there is one.
  ///
  /// @return how it has ended, now or before; `reason` if it never was open
  private Release end(Release reason) {
    HeldBlocks given;
    Release why;
    synchronized (this) {
      if (phase != Phase.OPEN) {
        return release == null ? reason : release;
      }
      phase = Phase.DRAINING;
      given = blocks;
      blocks = HeldBlocks.none();
      why = release == null ? reason : release;
      release = why;
      state = why.state();
    }
    owner.wheel().remove(this);
    owner.inputs().afterwards(() -> Mono.defer(given::release).doOnError(Uncaught::report).onErrorComplete()
        .subscribe(nothing -> {}, failed -> {}, () -> owner.inputs().freed(request, () -> over(why))));
    return why;
  }

  private void over(Release why) {
    synchronized (this) {
      phase = Phase.OVER;
      sinceNanos = owner.now();
    }
    owner.wheel().add(this, sinceNanos() + owner.options().lease().remembered().toNanos());
    owner.released(request, why);
    owner.inputs().afterwards(drained::tryEmitEmpty);
  }

  Optional<RequestState> state() {
    return isOpen() ? Optional.of(state) : Optional.empty();
  }

  private synchronized boolean isOpen() {
    return phase == Phase.OPEN;
  }

  /// Ends it, and completes when it has drained.
  Mono<Void> closed() {
    owner.withdraw(request);
    return drainedOrEarly();
  }

  @Override
  long due(long now) {
    return owner.inputs().look(request, () -> lookedAt(owner.now()));
  }

  private long lookedAt(long now) {
    boolean expires;
    synchronized (this) {
      long end = endNanos();
      if (phase == Phase.DRAINING || phase == Phase.FORGOTTEN) {
        return TimerWheel.NEVER;
      } else if (now < end) {
        return end;
      }
      expires = phase == Phase.OPEN;
      if (!expires) {
        forget();
      }
    }
    if (expires) {
      end(Release.EXPIRED);
    }
    return TimerWheel.NEVER;
  }

  @GuardedBy("this") private long endNanos() {
    LifecycleOptions options = owner.options();
    if (phase != Phase.OPEN) {
      return sinceNanos + options.lease().remembered().toNanos();
    }
    long life =
        (state == RequestState.BOOTSTRAPPING ? options.patience().bootstrap() : options.lease().life()).toNanos();
    return Math.min(sinceNanos + options.lease().longest().toNanos(), renewedNanos + life);
  }

  @GuardedBy("this") private void forget() {
    if (phase == Phase.EARLY) {
      owner.leaveEarly(early);
    }
    phase = Phase.FORGOTTEN;
    owner.forget(this);
  }
}
