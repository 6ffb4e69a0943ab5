package io.penstock.storage.rivals;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import java.util.List;
import reactor.core.publisher.Mono;

/// One way to keep blocks in files, to be compared with others: every byte is compared with its checksum as it leaves
/// memory, and as it arrives in a draft.
///
/// Blocks are numbered in the order of their puts, from 0.
interface Rival extends AutoCloseable {
  /// Whether work is done on threads of its own; else it is done on the thread that subscribes.
  boolean hasThreads();

  /// Writes a batch behind those before; completes when its promise is kept.
  Mono<Void> put(List<Block> batch);

  /// The last put has ended: makes everything ready to be read from files.
  void written();

  /// Reads the blocks of `numbers` into the drafts at the same places, and states them there.
  Mono<Void> read(int[] numbers, List<BlockDraft> drafts);

  @Override
  void close();
}
