package io.penstock.stack.write;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.operator.Failures;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Pending;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.decision.StackFigures;
import io.penstock.stack.decision.StoreCopy;
import io.penstock.stack.hold.StackHolds;
import io.penstock.stack.ledger.PendingBlocks;
import io.penstock.stack.ledger.StackHistory;
import io.penstock.stack.ledger.StackIndex;
import io.penstock.stack.move.AttachedStores;
import io.penstock.stack.move.ReadQueue;
import io.penstock.stack.move.WriteQueue;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.tier.spi.StoredBlock;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// Commits the drafts of a reservation: seals them, writes the blocks to the last store if the stack is written
/// through, then makes all of them visible in one decision, or none. The state changes in decisions only; the drafts
/// are sealed before.
final class StackCommit {
  private final Decisions decisions;
  private final StackShape shape;
  private final StackIndex index;
  private final StackFigures figures;
  private final StackHistory history;
  private final StackHolds holds;
  private final AttachedStores stores;
  private final PendingBlocks pending;
  private final StackWrites writes;

  StackCommit(Decisions decisions, StackShape shape, StackIndex index, StackFigures figures, StackHistory history,
      StackHolds holds, AttachedStores stores, PendingBlocks pending, StackWrites writes) {
    this.decisions = decisions;
    this.shape = shape;
    this.index = index;
    this.figures = figures;
    this.history = history;
    this.holds = holds;
    this.stores = stores;
    this.pending = pending;
    this.writes = writes;
  }

  Mono<List<Receipt>> commit(StackReservation reservation, List<BlockDraft> complete) {
    return Mono.defer(() -> {
      List<Receipt> before = reservation.isClosed() || !reservation.hasCommitted()
          ? null
          : decisions.look(() -> reservation.receipts(complete));
      return before == null ? commitNow(reservation, complete) : Mono.just(before);
    });
  }

  private Mono<List<Receipt>> commitNow(StackReservation reservation, List<BlockDraft> complete) {
    if (!shape.isWriteThrough()) {
      // Not fromCallable: if a cancel closes the reservation during the call, it would report the failure as dropped
      return Mono.defer(
          () -> Mono.just(publish(reservation, sealed(reservation, complete), List.of(), Durability.VOLATILE)));
    }
    return Mono.create(sink -> {
      try {
        List<Block> blocks = sealed(reservation, complete);
        if (blocks.isEmpty()) {
          sink.success(List.of());
        } else { // a cancel of the caller does not stop the write
          WriteThrough write = new WriteThrough(reservation, blocks, sink);
          decisions.decide(after -> {
            reservation.startCommit();
            stores.at(shape.last()).put(write, after);
          });
        }
      } catch (RuntimeException | Error e) {
        sink.error(Failures.passable(e));
      }
    });
  }

  private List<Block> sealed(StackReservation reservation, List<BlockDraft> complete) {
    if (reservation.isClosed()) {
      throw writes.ended(reservation);
    }
    if (!reservation.owns(complete)) {
      throw new IllegalArgumentException("drafts must be of this reservation (was another's)");
    }
    complete.forEach(BlockDraft::requireComplete);
    try {
      return ReadQueue.sealed(complete);
    } catch (IllegalStateException e) {
      throw decisions.isClosed() ? shape.closed() : e;
    }
  }

  /// The write of one commit to the last store. The blocks become visible when the store has them.
  private final class WriteThrough implements WriteQueue.Write {
    private final StackReservation reservation;
    private final List<Block> blocks;
    private final MonoSink<List<Receipt>> sink;

    /// Takes over `blocks`.
    WriteThrough(StackReservation reservation, List<Block> blocks, MonoSink<List<Receipt>> sink) {
      this.reservation = reservation;
      this.blocks = blocks;
      this.sink = sink;
    }

    @Override
    public List<Block> blocks() {
      return blocks;
    }

    @Override
    public void done(List<StoredBlock> stored, DeferredActions after) {
      after.then(() -> answer(stored, shape.store(shape.last()).durability()));
    }

    private void answer(List<StoredBlock> stored, Durability durability) {
      try {
        sink.success(publish(reservation, blocks, stored, durability));
      } catch (RuntimeException | Error e) {
        sink.error(Failures.passable(e));
      } finally {
        decisions.decide(after -> reservation.endCommit());
      }
    }

    /// If the store takes no blocks and the stack has another level, the commit succeeds with volatile receipts.
    @Override
    public void failed(Throwable error, DeferredActions after) {
      if (error instanceof StoreUnavailableException && shape.last() > 0) {
        after.then(() -> answer(List.of(), Durability.VOLATILE));
        return;
      }
      blocks.forEach(after::close);
      reservation.endCommit();
      after.then(() -> {
        writes.revoke(reservation, blocks);
        sink.error(error);
      });
    }
  }

  /// Makes `blocks` visible, each with an event and a receipt, and serves the leases that wait for them. If the
  /// reservation has been revoked, closes the blocks and throws.
  ///
  /// @param stored the blocks in the last store; empty if it does not have them
  /// @param durability promise of the receipts
  private List<Receipt> publish(StackReservation reservation, List<Block> blocks, List<StoredBlock> stored,
      Durability durability) {
    List<Receipt> receipts = decisions.answer(after -> {
      if (decisions.isClosed() || !reservation.writesAll(blocks)) {
        blocks.forEach(after::close);
        stored.forEach(after::close);
        return null;
      }
      List<Receipt> written = new ArrayList<>(blocks.size());
      for (int i = 0; i < blocks.size(); i++) {
        BlockKey key = blocks.get(i).key();
        StoredBlock copy = stored.isEmpty() ? null : stored.get(i);
        Pending write = reservation.take(key);
        if (write != null) {
          long sequence = publish(reservation, write, blocks.get(i), copy, after);
          Receipt receipt = new Receipt(key, shape.info().name(), durability, sequence);
          reservation.committed(receipt);
          written.add(receipt);
        } else { // another writer took it over
          after.close(blocks.get(i));
          if (copy != null) {
            after.close(copy);
          }
        }
      }
      history.committed(written.size(), after);
      return written;
    });
    if (receipts == null) {
      throw writes.ended(reservation);
    }
    return receipts;
  }

  /// @return the sequence number of the event
  private long publish(StackReservation reservation, Pending write, Block block, @Nullable StoredBlock stored,
      DeferredActions after) {
    BlockKey key = block.key();
    pending.serve(write, block, after);
    if (write.isListed()) {
      Resident resident = new Resident(key, index.level(key), figures);
      long sequence = give(resident, block, stored, after);
      index.show(resident, after);
      reservation.written(resident, after);
      return sequence;
    } else if (reservation.terms().upserts() && index.find(key, after) instanceof Resident old) {
      Resident resident = new Resident(key, 0, figures);
      long sequence = give(resident, block, stored, after);
      holds.replace(old, resident);
      index.remove(old, after); // its readers keep its bytes
      reservation.written(resident, after);
      index.during(reservation.terms().session(), false, () -> index.insert(resident, write.position(), after));
      return sequence;
    } else if (index.find(key, after) instanceof Resident known) { // its store gives no blocks now
      long sequence = give(known, block, stored, after);
      reservation.written(known, after);
      after.review(known);
      return sequence;
    } else if (!shape.options().exact()) {
      Resident resident = new Resident(key, 0, figures);
      long sequence = give(resident, block, stored, after);
      reservation.written(resident, after); // first: its pin keeps it
      index.during(reservation.terms().session(), false, () -> index.insert(resident, write.position(), after));
      return sequence;
    }
    after.close(block); // evicted before its bytes came: only the leases that waited get the block
    if (stored != null) {
      after.close(stored);
    }
    return history.passed(key, after);
  }

  /// Gives `resident` the written bytes, in memory and in the last store. Closes the bytes that it has already.
  ///
  /// @return the sequence number of the event
  private long give(Resident resident, Block block, @Nullable StoredBlock stored, DeferredActions after) {
    int last = shape.last();
    if (resident.isInMemory()) {
      after.close(block);
    } else {
      boolean onHostLevel = shape.host() == 0;
      resident.land(block, onHostLevel);
      history.moved(-1, 0, onHostLevel ? 1 : 0, after);
    }
    if (stored != null && resident.isStored(last)) {
      after.close(stored);
    } else if (stored != null) {
      resident.addCopy(last, new StoreCopy(stored));
      history.moved(-1, last, 1, after);
    }
    return history.stored(resident);
  }
}
