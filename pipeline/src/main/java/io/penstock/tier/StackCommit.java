package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.tier.spi.StoredBlock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// Commits the drafts of a reservation: seals them, writes the blocks to the last store if the stack is written
/// through, then makes all of them visible in one decision, or none. The state changes in decisions only; the drafts
/// are sealed before.
final class StackCommit {
  private final StackState state;
  private final StackWrites writes;

  StackCommit(StackState state, StackWrites writes) {
    this.state = state;
    this.writes = writes;
  }

  Mono<List<Receipt>> commit(StackReservation reservation, List<BlockDraft> complete) {
    return Mono.defer(() -> {
      List<Receipt> before = reservation.isClosed() ? null : state.look(() -> reservation.receipts(complete));
      return before == null ? commitNow(reservation, complete) : Mono.just(before);
    });
  }

  private Mono<List<Receipt>> commitNow(StackReservation reservation, List<BlockDraft> complete) {
    if (!state.shape().isWriteThrough()) {
      // Not fromCallable: if a cancel closes the reservation meanwhile, it would report the failure as dropped
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
          state.decide(after -> {
            reservation.startCommit();
            state.stores().at(state.shape().last()).put(write, after);
          });
        }
      } catch (RuntimeException e) {
        sink.error(e);
      }
    });
  }

  private List<Block> sealed(StackReservation reservation, List<BlockDraft> complete) {
    if (reservation.isClosed()) {
      throw writes.ended(reservation);
    }
    if (!new HashSet<>(reservation.drafts()).containsAll(complete)) {
      throw new IllegalArgumentException("drafts must be of this reservation (was another's)");
    }
    complete.forEach(BlockDraft::requireComplete);
    try {
      return sealed(complete);
    } catch (IllegalStateException e) {
      throw state.isClosed() ? state.shape().closed() : e;
    }
  }

  /// Seals all drafts. If a draft cannot be sealed, closes the blocks sealed before.
  static List<Block> sealed(List<BlockDraft> drafts) {
    List<Block> blocks = new ArrayList<>(drafts.size());
    try {
      drafts.forEach(draft -> blocks.add(draft.seal()));
      return blocks;
    } catch (RuntimeException e) {
      blocks.forEach(Block::close);
      throw e;
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
      after.then(() -> answer(stored, state.shape().store(state.shape().last()).durability()));
    }

    private void answer(List<StoredBlock> stored, Durability durability) {
      try {
        sink.success(publish(reservation, blocks, stored, durability));
      } catch (RuntimeException e) {
        sink.error(e);
      } finally {
        state.decide(after -> reservation.endCommit());
      }
    }

    /// If the store takes no blocks and the stack has another level, the commit succeeds with volatile receipts.
    @Override
    public void failed(Throwable error, DeferredActions after) {
      if (error instanceof StoreUnavailableException && state.shape().last() > 0) {
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
  /// reservation was revoked meanwhile, closes the blocks and throws.
  ///
  /// @param stored the blocks in the last store; empty if it does not have them
  /// @param durability what the receipts promise
  private List<Receipt> publish(StackReservation reservation, List<Block> blocks, List<StoredBlock> stored,
      Durability durability) {
    List<Receipt> receipts = state.answer(after -> {
      if (state.isClosed() || !reservation.writesAll(blocks)) {
        blocks.forEach(after::close);
        stored.forEach(after::close);
        return null;
      }
      List<Receipt> written = new ArrayList<>(blocks.size());
      for (int i = 0; i < blocks.size(); i++) {
        BlockKey key = blocks.get(i).key();
        StoredBlock copy = stored.isEmpty() ? null : stored.get(i);
        if (reservation.writes(key)) {
          long sequence = publish(reservation, blocks.get(i), copy, after);
          Receipt receipt = new Receipt(key, state.shape().info().name(), durability, sequence);
          reservation.committed(receipt);
          written.add(receipt);
        } else { // another writer took it over
          after.close(blocks.get(i));
          if (copy != null) {
            after.close(copy);
          }
        }
      }
      state.history().committed(written.size(), after);
      return written;
    });
    if (receipts == null) {
      throw writes.ended(reservation);
    }
    return receipts;
  }

  /// @return the sequence number of the event
  private long publish(StackReservation reservation, Block block, @Nullable StoredBlock stored, DeferredActions after) {
    BlockKey key = block.key();
    Pending pending = requireNonNull(reservation.take(key), "a reserved key is being written");
    writes.serve(pending, block, after);
    if (pending.isListed()) {
      Resident resident = new Resident(key, state.index().level(key), state.figures());
      long sequence = give(resident, block, stored, after);
      state.index().show(resident, after);
      reservation.written(resident, after);
      return sequence;
    } else if (reservation.terms().upserts() && state.index().find(key, after) instanceof Resident old) {
      Resident resident = new Resident(key, 0, state.figures());
      long sequence = give(resident, block, stored, after);
      state.holds().replace(old, resident);
      state.index().remove(old, after); // its readers keep its bytes
      reservation.written(resident, after);
      state.index().insert(resident, pending.position(), after);
      return sequence;
    } else if (state.index().find(key, after) instanceof Resident known) { // its store gives no blocks now
      long sequence = give(known, block, stored, after);
      reservation.written(known, after);
      after.review(known);
      return sequence;
    } else if (!state.shape().options().exact()) {
      Resident resident = new Resident(key, 0, state.figures());
      long sequence = give(resident, block, stored, after);
      reservation.written(resident, after); // first: its pin keeps it
      state.index().insert(resident, pending.position(), after);
      return sequence;
    }
    after.close(block); // evicted before its bytes came: only the leases that waited get the block
    if (stored != null) {
      after.close(stored);
    }
    return state.history().passed(key, after);
  }

  /// Gives `resident` the written bytes, in memory and in the last store. Closes the bytes that it has already.
  ///
  /// @return the sequence number of the event
  private long give(Resident resident, Block block, @Nullable StoredBlock stored, DeferredActions after) {
    int last = state.shape().last();
    if (resident.isInMemory()) {
      after.close(block);
    } else {
      boolean onHostLevel = state.shape().host() == 0;
      resident.land(block, onHostLevel);
      state.history().moved(-1, 0, onHostLevel ? 1 : 0, after);
    }
    if (stored != null && resident.isStored(last)) {
      after.close(stored);
    } else if (stored != null) {
      resident.addCopy(last, new StoreCopy(stored));
      state.history().moved(-1, last, 1, after);
    }
    return state.history().stored(resident);
  }
}
