package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.tier.spi.StoredBlock;
import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.tier.StackEntry.Pending;
import io.penstock.tier.StackEntry.Resident;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// How blocks that were written become blocks that everybody sees: those of one commit in one decision, each with its
/// event and its receipt, after which whoever waits for it has it.
final class StackPublication {
  private final StackBooks books;
  private final StackWrites writes;

  StackPublication(StackBooks books, StackWrites writes) {
    this.books = books;
    this.writes = writes;
  }

  /// Makes `blocks` visible, or closes them and throws if the reservation was revoked meanwhile.
  ///
  /// @param rests where the blocks are at rest already; empty for nowhere
  /// @param durability what their receipts promise
  List<Receipt> publish(StackReservation reservation, List<Block> blocks, List<StoredBlock> rests,
      Durability durability) {
    List<Receipt> receipts = new ArrayList<>(blocks.size());
    Aftermath after = books.aftermath();
    synchronized (books.lock) {
      if (books.isClosedNow() || !reservation.pending.keySet().containsAll(blocks.stream().map(Block::key).toList())) {
        blocks.forEach(after::close);
        rests.forEach(after::close);
      } else {
        for (int i = 0; i < blocks.size(); i++) {
          receipts.add(publish(reservation, blocks.get(i), rests.isEmpty() ? null : rests.get(i), durability, after));
        }
        books.figures.stored += blocks.size();
        books.reviewMoved(after);
        after.hear(() -> books.listener.stored(blocks.size(), blocks.size() * books.blockBytes()));
      }
    }
    after.run();
    if (receipts.size() < blocks.size()) {
      throw writes.ended();
    }
    return receipts;
  }

  private Receipt publish(StackReservation reservation, Block block, @Nullable StoredBlock rest, Durability durability,
      Aftermath after) {
    BlockKey key = block.key();
    Pending pending = requireNonNull(reservation.pending.remove(key), "a reserved key is being written");
    long sequence = books.events.append(number -> new TierEvent.Stored(number, key));
    writes.serve(pending, block, after);
    if (pending.listed) {
      Resident resident = new Resident(key, books.level(key), books.levels.size());
      give(resident, block, rest, after);
      books.show(resident);
    } else if (books.peek(key) instanceof Resident standing) {
      // Its bytes could not be had; what a store still reads of it, and may not give, is dropped
      give(standing, block, rest, after);
      books.changed(standing);
    } else { // chosen as victim before its bytes came: those who waited have it, the tier does not keep it
      books.departures.evicted(key, after);
      after.close(block);
      if (rest != null) {
        after.close(rest);
      }
    }
    return new Receipt(key, books.info.name(), durability, sequence);
  }

  /// Gives `resident` the bytes that were written, in memory and at rest; what it has already is dropped.
  private void give(Resident resident, Block block, @Nullable StoredBlock rest, Aftermath after) {
    int last = books.levels.size() - 1;
    if (resident.host == null) {
      resident.host = block;
      resident.atHost = books.host == 0;
      if (resident.atHost) {
        books.figures.arrived(0);
      }
    } else {
      after.close(block);
    }
    if (rest != null && resident.places[last] == null) {
      resident.places[last] = new Place(rest);
      books.figures.arrived(last);
    } else if (rest != null) {
      after.close(rest);
    }
  }
}
