package io.penstock.examples.disaggregated.node;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.request.MoveTicket;
import io.penstock.disagg.request.ShardMover;
import io.penstock.flow.PullBlocks;
import io.penstock.flow.PullBlocks.Lane;
import io.penstock.tier.spi.ViewSource;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Moves the blocks of one prefill rank to one decode rank, over a connection that each attempt asks for.
final class ConnectingMover implements ShardMover, PullBlocks.Places {
  private static final int MOST_WAITING = 1024;

  private final Mono<ViewSource> source;
  private final List<BlockKey> keys;
  private final IntFunction<BlockDraft> drafts;
  private final ShardMover mover;
  private volatile @Nullable Lane lane;

  /// @param source connects
  /// @param keys of all blocks that the source has of the request
  /// @param drafts that the decode rank fills, by number
  ConnectingMover(List<Transfer> transfers, Mono<ViewSource> source, List<BlockKey> keys,
      IntFunction<BlockDraft> drafts, boolean isPush) {
    this.source = source;
    this.keys = keys;
    this.drafts = drafts;
    this.mover = PullBlocks.mover(transfers, this, isPush);
  }

  @Override
  public Mono<Void> move(MoveTicket ticket) {
    return source.doOnNext(connected -> lane = new Lane(connected, MOST_WAITING))
        .then(Mono.defer(() -> mover.move(ticket)));
  }

  @Override
  public Mono<Void> drained(MoveTicket ticket) {
    return lane == null ? Mono.empty() : mover.drained(ticket);
  }

  @Override
  public Lane lane(Transfer transfer) {
    return requireNonNull(lane, "lane");
  }

  @Override
  public List<BlockKey> keys(Transfer transfer) {
    return keys;
  }

  @Override
  public BlockDraft draft(Transfer transfer, int destinationBlock) {
    return drafts.apply(destinationBlock);
  }
}
