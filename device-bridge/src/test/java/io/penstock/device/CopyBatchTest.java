package io.penstock.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Owned;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class CopyBatchTest {
  private final Arena memory = Arena.ofConfined();
  private final MemorySegment host = memory.allocate(64);
  private final CopyBatch batch = new CopyBatch(CopyDirection.TO_HOST);

  @AfterEach
  void free() {
    memory.close();
  }

  private static final class Hold extends Owned {
    @Override
    protected void free() {
      // counted by isClosed
    }
  }

  @Test
  void batch_mostElements_hasThemAll() {
    for (int i = 0; i < CopyBatch.MAX_ELEMENTS; i++) {
      batch.add(host, i);
    }
    assertThat(batch.elements()).isEqualTo(4096);
    assertThat(batch.bytes()).isEqualTo(4096 * 64);
    assertThat(batch.device(4095)).isEqualTo(4095);
    assertThatThrownBy(() -> batch.device(4096)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void batch_oneElementTooMany_namesRuleAndValue() {
    for (int i = 0; i < CopyBatch.MAX_ELEMENTS; i++) {
      batch.add(host, i);
    }
    assertThatThrownBy(() -> batch.add(host, 0)).isInstanceOf(IllegalArgumentException.class)
        .hasMessage("elements must be <= 4096 a batch (was 4097)");
  }

  @Test
  void batch_memoryThatCannotBeCopied_isRefused() {
    assertThatThrownBy(() -> batch.add(MemorySegment.ofArray(new byte[8]), 0))
        .hasMessageContaining("off the Java heap");
    assertThatThrownBy(() -> batch.add(host.asSlice(0, 0), 0)).hasMessage("bytes of an element must be > 0 (was 0)");
    assertThatThrownBy(() -> batch.add(host.asReadOnly(), 0)).hasMessageContaining("must be writable");
    assertThat(new CopyBatch(CopyDirection.TO_DEVICE).add(host.asReadOnly(), 0).elements()).isOne();
  }

  @Test
  void batch_takenOver_isFinalAndForOneCopy() {
    assertThatThrownBy(batch::take).hasMessage("elements must be > 0 (was 0)");
    batch.add(host, 1).take();
    assertThatThrownBy(batch::take).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> batch.add(host, 2)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> batch.hold(new Hold())).isInstanceOf(IllegalStateException.class);
    assertThat(batch.elements()).isOne();
  }

  @Test
  void close_letsGoOfWhatItHolds() {
    Hold first = new Hold();
    Hold second = new Hold();
    batch.hold(first).hold(second).close();
    assertThat(first.isClosed()).isTrue();
    assertThat(second.isClosed()).isTrue();
    assertThatThrownBy(() -> batch.add(host, 1)).isInstanceOf(IllegalStateException.class);
  }
}
