package io.penstock.examples.disaggregated;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.block.Owned;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// One block of a rank's cache: written token by token, read at the same time, and sealed when all its tokens are final.
final class KvBlock implements AutoCloseable {
  private final BlockDraft draft;
  private BlockDraft.@Nullable Span writing;
  private @Nullable Block sealed;
  private @Nullable LayerSpan reading;

  /// Takes over `draft`.
  KvBlock(BlockDraft draft) {
    this.draft = draft;
    this.writing = draft.writing(GranuleRange.all(draft.layout()));
  }

  /// The bytes, valid until this is closed; read-only once sealed.
  MemorySegment memory() {
    BlockDraft.Span open = writing;
    return open != null ? open.memory() : requireNonNull(reading, "reading").memory();
  }

  boolean isSealed() {
    return sealed != null;
  }

  /// Computes the checksums: from now on the bytes are verified, and final.
  Block seal() {
    if (sealed == null) {
      requireNonNull(writing, "writing").close();
      writing = null;
      GranuleRange all = GranuleRange.all(draft.layout());
      draft.produced(all);
      Block block = draft.seal();
      sealed = block;
      reading = block.span(all);
    }
    return sealed;
  }

  @Override
  public void close() {
    close(writing);
    close(reading);
    close(sealed);
    draft.close(); // changes nothing once sealed
  }

  private static void close(@Nullable Owned handle) {
    if (handle != null) {
      handle.close();
    }
  }
}
