package io.penstock.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class NativeFileTest {
  @TempDir
  private Path folder;

  @BeforeEach
  void aSystemWithNativeCalls() {
    assumeTrue(NativeMemory.absence().isEmpty());
  }

  private static MemorySegment bytes(Arena arena, String text) {
    return arena.allocateFrom(text).asSlice(0, text.length());
  }

  private static String text(MemorySegment bytes) {
    return new String(bytes.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
  }

  @Test
  void memfd_isSharedByItsMappings_andKeepsItsLengthOnceSealed() throws IOException {
    try (Arena arena = Arena.ofConfined(); NativeFile memory = NativeFile.memfd("native-file-test", 8192)) {
      assertThat(memory.bytes()).isEqualTo(8192);
      assertThat(Files.readSymbolicLink(memory.shown()).toString()).startsWith("/memfd:native-file-test");
      assertThat(memory.mayNotShrink()).isFalse();
      memory.sealLength();
      assertThat(memory.mayNotShrink()).isTrue();
      assertThatThrownBy(() -> memory.resize(4096)).isInstanceOf(SystemCallException.class)
          .hasMessage("ftruncate to 4096 bytes on descriptor " + memory.number()
              + " was refused: EPERM, not permitted");
      MemorySegment one = memory.map(8192, arena);
      MemorySegment other = memory.map(8192, arena);
      one.set(ValueLayout.JAVA_BYTE, 8191, (byte) 9);
      assertThat(other.get(ValueLayout.JAVA_BYTE, 8191)).isEqualTo((byte) 9);
    }
  }

  @Test
  void bytes_areReadBackAsWritten_aloneAndInParts() throws IOException {
    try (Arena arena = Arena.ofConfined(); NativeFile file = NativeFile.openOrCreate(folder.resolve("file"))) {
      file.write(3, bytes(arena, "abcdefgh"));
      MemorySegment back = arena.allocate(4);
      file.read(5, back);
      assertThat(text(back)).isEqualTo("cdef");
      MemorySegment[] parts = {arena.allocate(2), arena.allocate(3)};
      assertThat(file.read(4, parts)).isEqualTo(5);
      assertThat(text(parts[0]) + "|" + text(parts[1])).isEqualTo("bc|def");
      assertThat(file.read(8, parts)).as("bytes before the end").isEqualTo(3);
      assertThatThrownBy(() -> file.read(8, back)).isInstanceOf(IOException.class)
          .hasMessage("bytes read at 8 must be 4 (was 3: the file was cut short)");
    }
  }

  @Test
  void length_growsWithAReservation_andAdviceIsTaken() throws IOException {
    try (NativeFile file = NativeFile.openOrCreate(folder.resolve("file"))) {
      file.reserve(10_000);
      assertThat(file.bytes()).isEqualTo(10_000);
      for (NativeFile.Advice advice : NativeFile.Advice.values()) {
        file.advise(0, 0, advice);
      }
      assertThatThrownBy(() -> file.reserve(0)).isInstanceOf(SystemCallException.class)
          .hasMessageStartingWith("fallocate of 0 bytes on descriptor ").hasMessageEndingWith(
              " was refused: EINVAL, unknown to this system");
    }
    try (NativeFile pipe = NativeFile.openToRead(Path.of("/proc/self/status"))) {
      assertThatThrownBy(() -> pipe.advise(0, -1, NativeFile.Advice.RANDOM)).isInstanceOf(SystemCallException.class)
          .hasMessageEndingWith(" was refused: EINVAL, unknown to this system");
    }
  }

  @Test
  void links_areTheNamesOfTheFile_noneOnceItIsDeleted() throws IOException {
    Path path = folder.resolve("file");
    try (NativeFile file = NativeFile.openOrCreate(path)) {
      assertThat(file.links()).isOne();
      Files.createLink(folder.resolve("other"), path);
      assertThat(file.links()).isEqualTo(2);
      Files.delete(path);
      Files.delete(folder.resolve("other"));
      assertThat(file.links()).isZero();
    }
  }

  @Test
  void lock_isOfOneOpening_andEndsWithIt() throws IOException {
    Path path = folder.resolve("lock");
    try (NativeFile other = NativeFile.openOrCreate(path)) {
      try (NativeFile owner = NativeFile.openNoLink(path)) {
        assertThat(owner.tryLock()).isTrue();
        assertThat(other.tryLock()).isFalse();
      }
      assertThat(other.tryLock()).isTrue();
    }
  }

  @Test
  void sharedLock_isHeldBesideOthers_butNotBesideOneForItself() throws IOException {
    Path path = folder.resolve("lock");
    try (NativeFile alone = NativeFile.openOrCreate(path)) {
      try (NativeFile second = NativeFile.openNoLink(path)) {
        try (NativeFile first = NativeFile.openNoLink(path)) {
          assertThat(first.tryShare()).isTrue();
          assertThat(second.tryShare()).isTrue();
          assertThat(alone.tryLock()).isFalse();
        }
        assertThat(alone.tryLock()).isFalse();
      }
      assertThat(alone.tryLock()).isTrue();
      try (NativeFile late = NativeFile.openNoLink(path)) {
        assertThat(late.tryShare()).isFalse();
      }
    }
  }

  @Test
  void file_thatIsMissingOrALink_isRefusedByName() throws IOException {
    Path path = folder.resolve("missing");
    assertThatThrownBy(() -> NativeFile.openToRead(path)).isInstanceOfSatisfying(SystemCallException.class,
        e -> assertThat(e.errno()).isEqualTo(SystemCallException.ENOENT))
        .hasMessage("open of " + path + " was refused: ENOENT, not there");
    Path link = Files.createSymbolicLink(folder.resolve("link"), Files.createFile(folder.resolve("file")));
    NativeFile.open(link).close();
    assertThatThrownBy(() -> NativeFile.openNoLink(link)).isInstanceOf(SystemCallException.class);
    assertThatThrownBy(() -> NativeFile.openOrCreate(link)).isInstanceOf(SystemCallException.class);
  }
}
