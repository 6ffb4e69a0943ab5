package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A remote node as a [BlockTier].
///
/// Drafts of a reservation are in the client's arena; commit sends them. The receipt is the node's own.
public final class RemoteTier implements BlockTier {
  private final KvClient client;
  private final TierInfo info;

  /// @param client whose connection is used; closing the tier closes it
  /// @param space the client's space
  public RemoteTier(KvClient client, CacheSpace space) {
    this.client = requireNonNull(client, "client");
    this.info = new TierInfo("remote " + client.node(), Medium.REMOTE, space, Long.MAX_VALUE);
  }

  @Override
  public TierInfo info() {
    return info;
  }

  @Override
  public Mono<Integer> match(List<BlockKey> keys) {
    return client.match(keys);
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys) {
    return client.contains(keys);
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    return client.lease(keys, onMiss, scope).cast(Lease.class);
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    List<BlockKey> asked = List.copyOf(keys);
    return client.contains(asked).flatMap(present -> {
      List<BlockKey> wanted = new ArrayList<>();
      for (int i = 0; i < asked.size(); i++) {
        if (!present.get(i)) {
          wanted.add(asked.get(i));
        }
      }
      return RemoteReservation.claim(client, wanted, present, scope);
    });
  }

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    return client.remove(keys);
  }

  @Override
  public Flux<TierEvent> events(long sequence) {
    return client.events(sequence);
  }

  @Override
  public Mono<TierStat> stat() {
    return client.stat().map(ServerStat::stat);
  }

  @Override
  public Mono<Void> close() {
    return client.close();
  }
}
