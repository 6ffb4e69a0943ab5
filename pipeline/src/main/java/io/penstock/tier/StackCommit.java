package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.tier.spi.StoredBlock;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// From drafts to receipts: seal, put to the last store if the stack is written through, publish. All or nothing.
final class StackCommit {
  private final StackBooks books;
  private final StackWrites writes;
  private final StackPublication publication;
  /// The last level's store, if a block has to be there before it is visible.
  private final @Nullable BlockStore through;

  StackCommit(StackBooks books, StackWrites writes) {
    this.books = books;
    this.writes = writes;
    this.publication = new StackPublication(books, writes);
    this.through = books.options.mode() == StackMode.WRITE_THROUGH ? books.store(books.levels.size() - 1) : null;
  }

  Mono<List<Receipt>> commit(StackReservation reservation, List<BlockDraft> complete) {
    if (through == null) {
      return Mono.fromCallable(
          () -> publication.publish(reservation, sealed(reservation, complete), List.of(), Durability.VOLATILE));
    }
    return Mono.create(sink -> {
      try {
        List<Block> blocks = sealed(reservation, complete);
        if (blocks.isEmpty()) {
          sink.success(List.of());
        } else {
          writeThrough(reservation, blocks, sink);
        }
      } catch (RuntimeException e) {
        sink.error(e);
      }
    });
  }

  /// Publishes when the bytes are below. The copy goes on when the caller leaves, and so does the commit.
  private void writeThrough(StackReservation reservation, List<Block> blocks, MonoSink<List<Receipt>> sink) {
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      books.docks.last().put(new Written(reservation, blocks, sink), after);
    }
    after.run();
  }

  /// Blocks of one commit on their way to the last store; they become visible there, all or none.
  private final class Written implements PutLine.Turn {
    private final StackReservation reservation;
    private final List<Block> blocks;
    private final MonoSink<List<Receipt>> sink;

    /// Takes over `blocks`.
    Written(StackReservation reservation, List<Block> blocks, MonoSink<List<Receipt>> sink) {
      this.reservation = reservation;
      this.blocks = blocks;
      this.sink = sink;
    }

    @Override
    public List<Block> blocks() {
      return blocks;
    }

    @Override
    public void done(List<StoredBlock> rests, Aftermath after) {
      after.then(() -> publish(rests, requireNonNull(through).durability()));
    }

    private void publish(List<StoredBlock> rests, Durability durability) {
      try {
        sink.success(publication.publish(reservation, blocks, rests, durability));
      } catch (RuntimeException e) {
        sink.error(e);
      }
    }

    /// The store's weakness is no failure of the writer as long as there is another level: the receipts say what is
    /// true.
    @Override
    public void failed(Throwable error, Aftermath after) {
      if (error instanceof StoreUnavailableException && books.levels.size() > 1) {
        after.then(() -> publish(List.of(), Durability.VOLATILE));
        return;
      }
      blocks.forEach(after::close);
      after.then(() -> {
        writes.revoke(reservation, blocks);
        sink.error(error);
      });
    }
  }

  private List<Block> sealed(StackReservation reservation, List<BlockDraft> complete) {
    if (reservation.isClosed()) {
      throw writes.ended();
    }
    if (!new HashSet<>(reservation.drafts()).containsAll(complete)) {
      throw new IllegalArgumentException("drafts must be of this reservation (was another's)");
    }
    for (BlockDraft draft : complete) {
      draft.requireComplete();
    }
    try {
      return sealed(complete);
    } catch (IllegalStateException e) {
      throw books.isClosed() ? books.closedException() : e;
    }
  }

  /// Seals all drafts or, if one of them cannot be, keeps none.
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
}
