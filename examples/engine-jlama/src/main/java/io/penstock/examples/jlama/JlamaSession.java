package io.penstock.examples.jlama;

import com.github.tjake.jlama.tensor.AbstractTensor;
import com.github.tjake.jlama.tensor.KvBufferCache.KvBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.CancellationException;

/// One conversation and its KV cache, in pages of Jlama. A page has any number of tokens, so a block may lie in two.
///
/// One thread computes. Other threads may read and write rows meanwhile, but not those that are being computed.
@SuppressWarnings("rawtypes") // Jlama names its tensors without their types
final class JlamaSession implements AutoCloseable {
  /// What else happens while a session computes layer after layer.
  interface Steps {
    Steps NONE = new Steps() {};

    /// The batch is about to compute `layer`: it reads the rows of all tokens before it.
    default void before(int layer) {}

    /// Keys and values of `layer` of the first `tokens` tokens are final.
    default void written(int layer, int tokens) {}
  }

  private final JlamaEngine engine;
  private final KvBuffer rows;
  private final int maxTokens;
  /// By layer, plane and page.
  private final MemorySegment[][][] pages;
  private final int pageTokens;
  private final long rowBytes;
  private final AbstractTensor logits;
  private int tokens;
  private int computed;

  JlamaSession(JlamaEngine engine, KvBuffer rows, int maxTokens) {
    this.engine = engine;
    this.rows = rows;
    this.maxTokens = maxTokens;
    this.logits = engine.model().makeDenseTensor(engine.words());
    this.pages = new MemorySegment[engine.layers()][2][];
    for (int layer = 0; layer < pages.length; layer++) { // makes all pages, so that no two threads make the same one
      pages[layer][0] = segments(rows.getKeyTensorsUptoPosition(layer, maxTokens - 1));
      pages[layer][1] = segments(rows.getValTensorsUptoPosition(layer, maxTokens - 1));
    }
    AbstractTensor page = rows.getKeyTensorsUptoPosition(0, 0)[0];
    this.pageTokens = page.shape().first();
    this.rowBytes = page.getMemorySegment().byteSize() / pageTokens;
  }

  private static MemorySegment[] segments(AbstractTensor[] pages) {
    return Arrays.stream(pages).map(AbstractTensor::getMemorySegment).toArray(MemorySegment[]::new);
  }

  /// The memory of the keys (plane 0) or values (plane 1) of a token in a layer.
  MemorySegment row(int layer, int plane, int token) {
    return pages[layer][plane][token / pageTokens].asSlice(token % pageTokens * rowBytes, rowBytes);
  }

  int layers() {
    return pages.length;
  }

  int pageTokens() {
    return pageTokens;
  }

  /// Tokens that have rows.
  int tokens() {
    return tokens;
  }

  /// Tokens that this session computed itself.
  int computed() {
    return computed;
  }

  /// A copy of the logits after the last token.
  float[] logits() {
    return logits.getMemorySegment().toArray(ValueLayout.JAVA_FLOAT);
  }

  /// Computes `all` from token `from` on; the rows before are there, or come before the layer that reads them.
  ///
  /// @return the most probable next token
  /// @throws CancellationException if the thread is interrupted
  int forward(int[] all, int from, Steps steps) {
    if (from < 0 || from >= all.length || all.length > maxTokens) {
      throw new IllegalArgumentException("tokens must end after %d and at most at %d (was %d)".formatted(from,
          maxTokens, all.length));
    }
    int next = 0;
    for (int at = from; at < all.length;) {
      if (Thread.currentThread().isInterrupted()) {
        throw new CancellationException("The session was interrupted.");
      }
      int end = Math.min(all.length, (at / JlamaEngine.BATCH_TOKENS + 1) * JlamaEngine.BATCH_TOKENS);
      next = batch(Arrays.copyOfRange(all, at, end), at, steps);
      at = end;
    }
    return next;
  }

  /// Computes one token more.
  int forward(int token) {
    return batch(new int[] {token}, tokens, Steps.NONE);
  }

  private int batch(int[] batch, int at, Steps steps) {
    int[] calls = {0};
    steps.before(0);
    int next = engine.forward(batch, at, rows, output -> {
      int layer = calls[0] / 2;
      if (calls[0]++ % 2 == 0) {
        steps.written(layer, at + batch.length);
      } else if (layer + 1 < engine.layers()) {
        steps.before(layer + 1);
      }
    }, logits);
    tokens = at + batch.length;
    computed += batch.length;
    return next;
  }

  /// Gives its pages back: no load or offload of this session may run any more.
  @Override
  public void close() {
    rows.close();
    logits.close();
  }
}
