package io.penstock.storage.engine.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.storage.engine.Records;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SegmentViewTest {
  private static final int BYTES = 3 << 20;

  @TempDir
  Path folder;

  private final Arena arena = Arena.ofConfined();
  private final MemorySegment bytes = Records.ofBytes(1, BYTES, arena);
  private FileChannel file;

  @BeforeEach
  void openFile() throws IOException {
    file = FileChannel.open(folder.resolve("file"), StandardOpenOption.CREATE_NEW, StandardOpenOption.READ,
        StandardOpenOption.WRITE);
  }

  @AfterEach
  void closeAll() throws IOException {
    file.close();
    arena.close();
  }

  @Test
  void whatIsInMemory_isCopiedToAllParts() throws IOException {
    write(0, BYTES);
    MemorySegment[] parts = {arena.allocate(100), arena.allocate(BYTES - 133)};
    try (SegmentView view = new SegmentView(file, false)) {
      assertThat(view.read(33, parts)).isTrue();
    }
    assertThat(parts[0].mismatch(bytes.asSlice(33, 100))).isEqualTo(-1);
    assertThat(parts[1].mismatch(bytes.asSlice(133))).isEqualTo(-1);
  }

  @Test
  void whatWasCutOff_isNotTouched() throws IOException {
    write(0, BYTES);
    try (SegmentView view = new SegmentView(file, false)) {
      assertThat(view.read(0, parts(BYTES))).isTrue();
      file.truncate(BYTES / 2);
      assertThat(view.read(0, parts(BYTES))).isFalse();
      assertThat(view.read(BYTES - 4096, parts(4096))).isFalse();
      assertThat(view.read(0, parts(4096))).isTrue();
    }
  }

  /// The system was asked, and then the file lost its pages: what the view relies on then.
  @Test
  void aCopyOfPagesThatWent_isAnErrorOfTheCopy_andNotTheEndOfTheProcess() throws IOException {
    write(0, BYTES);
    try (Arena shared = Arena.ofShared()) {
      MemorySegment mapped = file.map(FileChannel.MapMode.READ_ONLY, 0, BYTES, shared);
      MemorySegment into = arena.allocate(1 << 20);
      assertThat(mapped.isLoaded()).isTrue();
      file.truncate(0);
      assertThatThrownBy(() -> MemorySegment.copy(mapped, 1 << 20, into, 0, 1 << 20)).isInstanceOf(InternalError.class);
    }
  }

  @Test
  void aFileThatGrows_isMappedAgainWhenItIsLongerByAQuarter_orHasItsLength() throws IOException {
    write(0, 1 << 20);
    try (SegmentView view = new SegmentView(file, true)) {
      assertThat(view.read(0, parts(1 << 20))).isTrue();
      write(1 << 20, (1 << 20) + 4096);
      assertThat(view.read(1 << 20, parts(4096))).isFalse();
      write((1 << 20) + 4096, 2 << 20);
      assertThat(view.read(1 << 20, parts(1 << 20))).isTrue();
      write(2 << 20, (2 << 20) + 4096);
      assertThat(view.read(2 << 20, parts(4096))).isFalse();
      view.grown();
      assertThat(view.read(2 << 20, parts(4096))).isTrue();
    }
  }

  /// A reader that was told that its pages are there, and they go before it has them, would keep all threads waiting
  /// for the medium.
  @Test
  void whatIsLetGo_meanwhile_isNotTouched_andIsReadRightByAnyOther() throws Exception {
    write(0, BYTES);
    file.force(true);
    MemorySegment into = Arena.ofAuto().allocate(1 << 20);
    AtomicLong copied = new AtomicLong();
    AtomicBoolean stop = new AtomicBoolean();
    try (SegmentView view = new SegmentView(file, false)) {
      Thread trimming = Thread.ofPlatform().start(() -> {
        while (!stop.get()) {
          letGo(view);
        }
      });
      try {
        for (int i = 0; i < 200; i++) {
          if (view.read(1 << 20, new MemorySegment[] {into})) {
            copied.incrementAndGet();
          } else {
            FileBytes.read(file, 1 << 20, into);
          }
          assertThat(into.mismatch(bytes.asSlice(1 << 20, 1 << 20))).isEqualTo(-1);
        }
      } finally {
        stop.set(true);
        trimming.join();
      }
      assertThat(copied).as("copies, of 200").hasValueLessThan(200);
    }
  }

  private void letGo(SegmentView view) {
    try {
      view.letGo(folder.resolve("file"), 0, BYTES);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private MemorySegment[] parts(int length) {
    return new MemorySegment[] {arena.allocate(length)};
  }

  private void write(int from, int to) throws IOException {
    FileBytes.write(file, from, bytes.asSlice(from, to - from).asByteBuffer());
  }
}
