package io.penstock.node.content;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import java.io.IOException;
import java.util.List;

/// Source of the blocks of a `put`, a window at a time.
public interface BlockInput extends AutoCloseable {
  /// Keys of the next blocks, at most `most`; empty at the end. Invalidates the blocks before.
  List<BlockKey> next(int most) throws IOException;

  /// Writes the block at `index` of the window into `draft`.
  void fill(int index, BlockDraft draft);

  /// Zero bytes that were added to fill the last block.
  long paddingBytes();

  @Override
  void close() throws IOException;
}
