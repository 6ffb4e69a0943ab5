package io.penstock.wire.client;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockDraft;
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
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A remote node as a [BlockTier]. Threads may share it, as they may share its [KvClient]; a lease, a reservation and a
/// scope have one owner each.
///
/// Drafts of a reservation are in the client's arena. The node learns of them at the commit, which sends them; until
/// then no reader can await its keys, and another writer may be first, whose blocks then stay. The receipt is the
/// node's own.
public final class RemoteTier implements BlockTier {
  private final KvClient client;
  private final TierInfo info;
  private volatile boolean closed;

  /// @param client whose connection is used; closing the tier closes it
  /// @param space the client's space
  public RemoteTier(KvClient client, CacheSpace space) {
    this.client = requireNonNull(client, "client");
    this.info = new TierInfo("remote " + client.node(), Medium.REMOTE, space, client.capacityBlocks());
  }

  @Override
  public TierInfo info() {
    return info;
  }

  @Override
  public Mono<Integer> match(List<BlockKey> keys) {
    return open(client.match(keys));
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys) {
    return open(client.contains(keys));
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys, Durability durability) {
    return open(client.contains(keys, durability));
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    return open(client.lease(keys, onMiss, scope).cast(Lease.class));
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, @Nullable SessionUse session, BlockScope scope) {
    return open(client.lease(keys, onMiss, session, scope).cast(Lease.class));
  }

  @Override
  public Mono<Boolean> session(SessionUse session, SessionState state) {
    return open(client.session(session, state));
  }

  @Override
  public Mono<SessionPage> sessionKeys(SessionId session, @Nullable BlockKey after, int most) {
    return open(client.sessionKeys(session, after, most));
  }

  @Override
  public Mono<Integer> promised(List<BlockKey> keys) {
    return open(client.match(keys, null, Duration.ZERO)
        .map(matched -> matched.prefix() + matched.pending()));
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    return reserve(keys, PutTerms.plain(), scope);
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
    List<BlockKey> asked = List.copyOf(keys);
    if (terms.upserts()) {
      return open(RemoteReservation.claim(client, asked, terms, Presence.of(asked.size(), new BitSet()), scope));
    }
    return open(client.contains(asked).flatMap(present -> {
      List<BlockKey> wanted = new ArrayList<>();
      for (int i = 0; i < asked.size(); i++) {
        if (!present.get(i)) {
          wanted.add(asked.get(i));
        }
      }
      return RemoteReservation.claim(client, wanted, terms, present, scope);
    }));
  }

  /// Sends slices as they are computed, while the node makes room for the next windows.
  @Override
  public Flux<Receipt> put(List<BlockKey> keys, SliceShape shape, PutSource source) {
    return put(keys, PutTerms.plain(), shape, source);
  }

  @Override
  public Flux<Receipt> put(List<BlockKey> keys, PutTerms terms, SliceShape shape, PutSource source) {
    shape.requireWholeBlocks();
    Flux<Receipt> receipts = client.put(keys, terms, source);
    return Flux.defer(() -> closed ? Flux.error(closed()) : receipts)
        .onErrorMap(ConnectionLostException.class, e -> closed ? closed() : e);
  }

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    return open(client.remove(keys));
  }

  /// Holds of the connection, for any party.
  @Override
  public TierHolds holds(Object party) {
    return client.holds();
  }

  @Override
  public Flux<TierEvent> events(long sequence) {
    return events(client.events(sequence));
  }

  @Override
  public Flux<TierEvent> follow() {
    return events(client.follow());
  }

  private Flux<TierEvent> events(Flux<TierEvent> events) {
    return Flux.defer(() -> closed ? Flux.error(closed()) : events)
        .onErrorResume(ConnectionLostException.class, e -> closed ? Flux.empty() : Flux.error(e));
  }

  @Override
  public Mono<TierStat> stat() {
    return open(client.stat().map(ServerStat::stat));
  }

  /// Drops the connection; the node goes on.
  @Override
  public Mono<Void> close() {
    return Mono.defer(() -> {
      closed = true;
      return client.close();
    });
  }

  private TierClosedException closed() {
    return new TierClosedException(info.name());
  }

  private <T> Mono<T> open(Mono<T> call) {
    return Mono.defer(() -> closed ? Mono.<T>error(closed()) : call)
        .onErrorMap(ConnectionLostException.class, e -> closed ? closed() : e);
  }
}
