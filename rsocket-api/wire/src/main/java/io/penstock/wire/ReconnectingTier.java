package io.penstock.wire;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SliceShape;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionPage;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
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
import io.penstock.wire.client.RemoteTier;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// A node that may restart. A call, or a later subscription to it, that finds the connection lost makes a new one. All
/// calls that wait for it share the attempt, and get its error if it fails. Calls under way when a connection is lost
/// end with its error: only the caller knows whether to repeat them.
///
/// Safe from any thread.
final class ReconnectingTier implements BlockTier {
  private final Mono<KvClient> connecting;
  private final CacheSpace space;
  private final Sinks.Empty<Void> closing = Sinks.empty();
  private volatile Connected connected;
  @GuardedBy("this") private @Nullable Mono<Connected> attempt;
  @GuardedBy("this") private boolean closed;

  /// A connection, and the node behind it.
  private record Connected(KvClient client, RemoteTier tier) {
    static Connected of(KvClient client, CacheSpace space) {
      return new Connected(client, new RemoteTier(client, space));
    }
  }

  /// @param first the first connection
  /// @param connecting cold; makes another one
  ReconnectingTier(KvClient first, Mono<KvClient> connecting, CacheSpace space) {
    this.connecting = connecting;
    this.space = space;
    this.connected = Connected.of(first, space);
  }

  /// The present connection, or a new one if that was lost.
  private Mono<Connected> current() {
    return Mono.defer(() -> {
      synchronized (this) {
        if (closed) {
          return Mono.error(closed());
        } else if (connected.client().isOpen()) {
          return Mono.just(connected);
        }
        Mono<Connected> shared = attempt == null ? attempt() : attempt;
        attempt = shared;
        return shared;
      }
    });
  }

  /// Runs once, even if its callers cancel; a close cancels it.
  private Mono<Connected> attempt() {
    return connecting.flatMap(this::arrived).takeUntilOther(closing.asMono())
        .switchIfEmpty(Mono.error(this::closed)).doOnTerminate(this::ended).cache();
  }

  private synchronized void ended() {
    attempt = null;
  }

  private Mono<Connected> arrived(KvClient client) {
    synchronized (this) {
      if (!closed) {
        connected = Connected.of(client, space);
        return Mono.just(connected);
      }
    }
    return client.close().then(Mono.error(this::closed));
  }

  private TierClosedException closed() {
    return new TierClosedException(info().name());
  }

  /// @param call checks its arguments at once, and does all else when it is subscribed
  private <T> Mono<T> mono(Function<BlockTier, Mono<T>> call) {
    Connected at = connected;
    Mono<T> here = call.apply(at.tier());
    return Mono.defer(() -> isStill(at) ? here : current().flatMap(now -> call.apply(now.tier())));
  }

  private <T> Flux<T> flux(Function<BlockTier, Flux<T>> call) {
    Connected at = connected;
    Flux<T> here = call.apply(at.tier());
    return Flux.defer(() -> isStill(at) ? here : current().flatMapMany(now -> call.apply(now.tier())));
  }

  private boolean isStill(Connected at) {
    return at.equals(connected) && at.client().isOpen();
  }

  @Override
  public TierInfo info() {
    return connected.tier().info();
  }

  @Override
  public Mono<Integer> match(List<BlockKey> keys) {
    return mono(tier -> tier.match(keys));
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys) {
    return mono(tier -> tier.contains(keys));
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys, Durability durability) {
    return mono(tier -> tier.contains(keys, durability));
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    return mono(tier -> tier.lease(keys, onMiss, scope));
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, @Nullable SessionUse session, BlockScope scope) {
    return mono(tier -> tier.lease(keys, onMiss, session, scope));
  }

  @Override
  public Mono<Boolean> session(SessionUse session, SessionState state) {
    return mono(tier -> tier.session(session, state));
  }

  @Override
  public Mono<SessionPage> sessionKeys(SessionId session, @Nullable BlockKey after, int most) {
    return mono(tier -> tier.sessionKeys(session, after, most));
  }

  /// Matches, and waits for keys right behind the prefix that are being written, as [KvClient#match] does.
  Mono<KvClient.Matched> matched(List<BlockKey> keys, @Nullable SessionUse session, Duration patience) {
    return current().flatMap(now -> now.client().match(keys, session, patience));
  }

  @Override
  public Mono<Integer> promised(List<BlockKey> keys) {
    return mono(tier -> tier.promised(keys));
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return mono(tier -> tier.reserve(keys, scope));
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
    return mono(tier -> tier.reserve(keys, terms, scope));
  }

  @Override
  public Flux<Receipt> put(List<BlockKey> keys, PutTerms terms, SliceShape shape, PutSource source) {
    return flux(tier -> tier.put(keys, terms, shape, source));
  }

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    return mono(tier -> tier.remove(keys));
  }

  /// Leases that do not survive a connection end with it.
  @Override
  public TierHolds holds(Object party) {
    return new Holds(party);
  }

  @Override
  public Flux<TierEvent> events(long sequence) {
    return flux(tier -> tier.events(sequence));
  }

  @Override
  public Flux<TierEvent> follow() {
    return flux(BlockTier::follow);
  }

  @Override
  public Mono<TierStat> stat() {
    return mono(BlockTier::stat);
  }

  /// Drops the connection, and ends an attempt to make one; the node goes on.
  @Override
  public Mono<Void> close() {
    return Mono.defer(() -> {
      synchronized (this) {
        closed = true;
      }
      closing.tryEmitEmpty();
      return connected.tier().close();
    });
  }

  /// The holds of one party, over whichever connection stands.
  private final class Holds extends TierHolds {
    private final Object party;
    @GuardedBy("this") private Connected at;
    @GuardedBy("this") private TierHolds holds;

    private Holds(Object party) {
      this.party = party;
      this.at = connected;
      this.holds = at.tier().holds(party);
    }

    private synchronized TierHolds over(Connected now) {
      if (!at.equals(now)) {
        at = now;
        holds = now.tier().holds(party);
      }
      return holds;
    }

    private <T> Mono<T> held(Function<TierHolds, Mono<T>> call) {
      Connected before = connected;
      Mono<T> here = call.apply(over(before));
      return Mono.defer(() -> isStill(before) ? here : current().flatMap(now -> call.apply(over(now))));
    }

    @Override
    public Mono<ReadLease> lease(List<BlockKey> keys, LeaseTerms terms) {
      return held(all -> all.lease(keys, terms));
    }

    @Override
    public Mono<Boolean> release(long id) {
      return held(all -> all.release(id));
    }

    @Override
    public Mono<Lease> read(long id, List<BlockKey> keys, BlockScope scope) {
      return held(all -> all.read(id, keys, scope));
    }

    @Override
    public Mono<List<KeyOutcome>> pin(List<BlockKey> keys, Pin pin) {
      return held(all -> all.pin(keys, pin));
    }

    @Override
    public Mono<List<KeyOutcome>> remove(List<BlockKey> keys, boolean force) {
      return held(all -> all.remove(keys, force));
    }

    @Override
    public Flux<RemovalCount> remove(KeyFilter which, boolean force) {
      return held(all -> all.remove(which, force).collectList()).flatMapIterable(counts -> counts);
    }

    @Override
    protected void free() {
      TierHolds last;
      synchronized (this) {
        last = holds;
      }
      last.close();
    }
  }
}
