package io.penstock.examples.disaggregated.rank;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockLayout;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSpan;
import io.penstock.block.Owned;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// One block of a rank's cache. One thread writes it token by token and reads it at the same time, layer by layer; a
/// finished layer is verified, and other threads may send it.
public final class KvBlock implements AutoCloseable {
  private final BlockDraft draft;
  /// For each layer one of two handles: a hold for writing, or, once it is finished, a share for reading.
  private final BlockDraft.@Nullable Span[] writing;
  private final @Nullable LayerSpan[] reading;
  @GuardedBy("this") private @Nullable Block sealed;

  /// Takes over `draft`, and fills it with zeros, which stay behind the end of a prompt.
  public KvBlock(BlockDraft draft) {
    this.draft = draft;
    int layers = draft.layout().layers();
    this.writing = new BlockDraft.@Nullable Span[layers];
    this.reading = new @Nullable LayerSpan[layers];
    for (int layer = 0; layer < layers; layer++) {
      BlockDraft.Span span = draft.writing(layer(layer));
      span.memory().fill((byte) 0);
      writing[layer] = span;
    }
  }

  /// The draft, for code that lands bytes from elsewhere.
  public BlockDraft draft() {
    return draft;
  }

  private GranuleRange layer(int layer) {
    return GranuleRange.layers(layout(), layer, layer + 1);
  }

  private BlockLayout layout() {
    return draft.layout();
  }

  /// The bytes of a layer, valid until this is closed; read-only once finished.
  public MemorySegment memory(int layer) {
    BlockDraft.Span open = writing[layer];
    return open != null ? open.memory() : requireNonNull(reading[layer], "reading").memory();
  }

  /// Computes the checksums of a layer: from now on its bytes are verified, and final.
  public void finish(int layer) {
    BlockDraft.Span open = writing[layer];
    if (open != null) {
      open.close();
      writing[layer] = null;
      draft.produced(layer(layer));
      reading[layer] = draft.span(layer(layer));
    }
  }

  /// Finishes all layers.
  public synchronized Block seal() {
    if (sealed == null) {
      for (int layer = 0; layer < writing.length; layer++) {
        finish(layer);
      }
      sealed = draft.seal();
    }
    return sealed;
  }

  /// A share of finished layers, for a reader on any thread.
  public synchronized LayerSpan span(GranuleRange granules) {
    return sealed == null ? draft.span(granules) : sealed.span(granules);
  }

  @Override
  public synchronized void close() {
    Stream.of(writing).forEach(KvBlock::close);
    Stream.of(reading).forEach(KvBlock::close);
    close(sealed);
    draft.close(); // changes nothing once sealed
  }

  private static void close(@Nullable Owned handle) {
    if (handle != null) {
      handle.close();
    }
  }
}
