package io.penstock.wire.client;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SpaceId;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.TierHolds;
import io.penstock.wire.client.get.Gets;
import io.penstock.wire.client.link.NodeConnection;
import io.penstock.wire.protocol.Fields;
import io.penstock.wire.protocol.HoldMessages;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The read leases, pins and removals of one connection at a node. The node shares bounds by source address, and ends
/// the leases with the connection; [#close()] ends them before.
final class RemoteHolds extends TierHolds {
  private final NodeConnection connection;
  private final SpaceId space;
  private final Gets gets;
  /// A node gives one party fewer live leases than this.
  private static final int MOST_OWN = 1 << 14;

  /// The newest leases that do not survive this object, oldest first; some have ended. Guarded by itself.
  private final Set<Long> own = new LinkedHashSet<>();

  RemoteHolds(NodeConnection connection, SpaceId space, Gets gets) {
    this.connection = connection;
    this.space = space;
    this.gets = gets;
  }

  @Override
  public Mono<ReadLease> lease(List<BlockKey> keys, LeaseTerms terms) {
    List<BlockKey> asked = BlockKey.distinct(keys, space);
    Messages.KeysRequest request =
        new Messages.KeysRequest(Messages.Keys.of(space, asked), HoldMessages.LeaseWanted.of(terms));
    Mono<ReadLease> answer = terms.prefixOnly()
        ? connection.ask(Routes.MATCH, request, Messages.MatchReply.class)
            .map(reply -> HoldMessages.LeaseGiven.lease(reply.lease(), prefix(reply.of(asked.size()), asked.size())))
        : connection.ask(Routes.EXISTS, request, Messages.ExistsReply.class)
            .map(reply -> HoldMessages.LeaseGiven.lease(reply.lease(), reply.of(asked.size())));
    return answer.doOnNext(lease -> {
      if (lease.id() != 0 && !terms.survives()) {
        remember(lease.id());
      }
    });
  }

  private static Presence prefix(int length, int keys) {
    BitSet found = new BitSet(keys);
    found.set(0, length);
    return Presence.of(keys, found);
  }

  @Override
  public Mono<Boolean> release(long id) {
    return connection.ask(Routes.RELEASE, new HoldMessages.ReleaseRequest(id), HoldMessages.ReleaseReply.class)
        .map(HoldMessages.ReleaseReply::released).doOnNext(released -> forget(id));
  }

  @Override
  public Mono<Lease> read(long id, List<BlockKey> keys, BlockScope scope) {
    return gets.lease(keys, OnMiss.SKIP, id, scope).cast(Lease.class);
  }

  @Override
  public Mono<List<KeyOutcome>> pin(List<BlockKey> keys, Pin pin) {
    List<BlockKey> asked = BlockKey.distinct(keys, space);
    return connection
        .ask(Routes.PIN, new HoldMessages.PinRequest(Messages.Keys.of(space, asked), HoldMessages.PinWanted.of(pin)),
            HoldMessages.Outcomes.class)
        .map(reply -> reply.outcomes(asked.size()));
  }

  @Override
  public Mono<List<KeyOutcome>> remove(List<BlockKey> keys, boolean force) {
    List<BlockKey> asked = BlockKey.distinct(keys, space);
    return connection
        .ask(Routes.REMOVE, new HoldMessages.RemoveRequest(Messages.Keys.of(space, asked), null, null, force, null),
            HoldMessages.Outcomes.class)
        .map(reply -> reply.outcomes(asked.size()));
  }

  /// Sends the pattern of `which`; the node runs it.
  @Override
  public Flux<RemovalCount> remove(KeyFilter which, boolean force) {
    Boolean all = which.pattern() == null ? true : null;
    HoldMessages.RemoveRequest request =
        new HoldMessages.RemoveRequest(null, which.pattern(), all, force, Fields.bytes(space));
    return connection.ask(Routes.REMOVE, request, HoldMessages.Outcomes.class).map(HoldMessages.Outcomes::count).flux();
  }

  private void remember(long id) {
    synchronized (own) {
      own.add(id);
      if (own.size() > MOST_OWN) {
        own.remove(own.iterator().next());
      }
    }
  }

  private void forget(long id) {
    synchronized (own) {
      own.remove(id);
    }
  }

  @Override
  protected void free() {
    List<Long> open;
    synchronized (own) {
      open = List.copyOf(own);
    }
    open.forEach(id -> release(id).subscribe(released -> {}, lost -> {})); // a lost connection ends them, too
  }
}
