package io.penstock.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
@SuppressWarnings("restricted")
final class NativeMemoryTest {
  private static final long BYTES = 1 << 20;

  private final NativeMemory memory = NativeMemory.ofSystem();

  private static void assumeNativeCalls() {
    assumeTrue(NativeMemory.absence().isEmpty(), () -> NativeMemory.absence().orElseThrow());
  }

  private static void assertRefused(ThrowingCallable call, int errno, String message) {
    assertThatThrownBy(call).hasMessage(message).isInstanceOfSatisfying(SystemCallException.class,
        e -> assertThat(e.errno()).isEqualTo(errno));
  }

  @Test
  void mappedMemory_isZeroed_andHoldsWhatIsWritten() throws IOException {
    assumeNativeCalls();
    long address = memory.map(BYTES);
    memory.advise(address, BYTES, NativeMemory.Advice.LARGE_PAGES);
    memory.advise(address, BYTES, NativeMemory.Advice.POPULATE_WRITE);
    memory.lock(address, memory.pageBytes());
    MemorySegment mapped = MemorySegment.ofAddress(address).reinterpret(BYTES);
    assertThat(mapped.mismatch(MemorySegment.ofArray(new byte[(int) BYTES]))).isEqualTo(-1);
    mapped.fill((byte) 7);
    assertThat(mapped.get(ValueLayout.JAVA_BYTE, BYTES - 1)).isEqualTo((byte) 7);
    memory.advise(address + memory.pageBytes(), memory.pageBytes(), NativeMemory.Advice.DONT_NEED);
    assertThat(mapped.get(ValueLayout.JAVA_BYTE, memory.pageBytes())).isZero();
    memory.unmap(address, BYTES);
    assertRefused(() -> memory.advise(address, BYTES, NativeMemory.Advice.POPULATE_WRITE), SystemCallException.ENOMEM,
        "madvise POPULATE_WRITE of 1048576 bytes at 0x%x was refused: ENOMEM, no memory or a limit of the process"
            .formatted(address));
  }

  @Test
  void allocatedMemory_liesInLargePages_isZeroed_andGoesWithItsArena() throws Exception {
    assumeNativeCalls();
    long bytes = 3 * NativeMemory.LARGE_PAGE_BYTES + 100;
    Arena arena = Arena.ofShared();
    try {
      MemorySegment allocated = NativeMemory.allocate(bytes, arena);
      assertThat(allocated.byteSize()).isEqualTo(bytes);
      assertThat(allocated.address() % NativeMemory.LARGE_PAGE_BYTES).isZero();
      assertThat(allocated.get(ValueLayout.JAVA_BYTE, bytes - 1)).isZero();
      Thread other = Thread.ofPlatform().start(() -> allocated.fill((byte) 7));
      other.join();
      assertThat(allocated.get(ValueLayout.JAVA_BYTE, bytes - 1)).isEqualTo((byte) 7);
      long address = allocated.address();
      arena.close();
      assertThatThrownBy(() -> allocated.get(ValueLayout.JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
      assertRefused(() -> memory.advise(address, memory.pageBytes(), NativeMemory.Advice.POPULATE_WRITE),
          SystemCallException.ENOMEM, "madvise POPULATE_WRITE of %d bytes at 0x%x was refused: ".formatted(
              memory.pageBytes(), address) + "ENOMEM, no memory or a limit of the process");
    } finally {
      if (arena.scope().isAlive()) {
        arena.close();
      }
    }
  }

  @Test
  void endsThatTheSystemDoesNotTakeBack_costNoMemory() throws SystemCallException {
    assumeNativeCalls();
    NativeMemory refusing = new RefusingUnmaps(memory);
    long address = refusing.mapAligned(BYTES, NativeMemory.LARGE_PAGE_BYTES);
    assertThat(address % NativeMemory.LARGE_PAGE_BYTES).isZero();
    MemorySegment.ofAddress(address).reinterpret(BYTES).fill((byte) 1);
    memory.unmap(address, BYTES);
  }

  /// Of a process that has as many mappings as it may have.
  private record RefusingUnmaps(NativeMemory system) implements NativeMemory {
    @Override
    public long map(long bytes) throws SystemCallException {
      return system.map(bytes);
    }

    @Override
    public void unmap(long address, long bytes) throws SystemCallException {
      throw new SystemCallException("munmap", SystemCallException.ENOMEM);
    }

    @Override
    public long mapHuge(long bytes, long pageBytes) throws SystemCallException {
      return system.mapHuge(bytes, pageBytes);
    }

    @Override
    public void advise(long address, long bytes, Advice advice) throws SystemCallException {
      system.advise(address, bytes, advice);
    }

    @Override
    public void lock(long address, long bytes) throws SystemCallException {
      system.lock(address, bytes);
    }

    @Override
    public void prefer(long address, long bytes, int node) throws SystemCallException {
      system.prefer(address, bytes, node);
    }

    @Override
    public long pageBytes() {
      return system.pageBytes();
    }
  }

  @Test
  void lessThanALargePage_isWhatTheJdkAllocates() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment allocated = NativeMemory.allocate(1000, arena);
      assertThat(allocated.byteSize()).isEqualTo(1000);
      assertThat(allocated.address() % NativeMemory.LINE_BYTES).isZero();
    }
  }

  @Test
  void memoryThatIsNotThere_isAnOutOfMemoryError_thatSaysWhy() {
    assumeNativeCalls();
    try (Arena arena = Arena.ofShared()) {
      assertThatThrownBy(() -> NativeMemory.allocate(1L << 50, arena)).isInstanceOf(OutOfMemoryError.class)
          .hasMessageContaining("mmap of ").hasMessageContaining("ENOMEM");
    }
  }

  @Test
  void refusal_namesTheCallTheSizeAndTheAddress() {
    assumeNativeCalls();
    assertRefused(() -> memory.map(0), SystemCallException.EINVAL,
        "mmap of 0 bytes was refused: EINVAL, unknown to this system");
    assertRefused(() -> memory.mapHuge(0, 2 << 20), SystemCallException.EINVAL,
        "mmap of 0 bytes in pages of 2097152 was refused: EINVAL, unknown to this system");
    assertRefused(() -> memory.unmap(1, 4096), SystemCallException.EINVAL,
        "munmap of 4096 bytes at 0x1 was refused: EINVAL, unknown to this system");
    assertRefused(() -> memory.lock(1 << 12, 4096), SystemCallException.ENOMEM,
        "mlock of 4096 bytes at 0x1000 was refused: ENOMEM, no memory or a limit of the process");
    assertThatThrownBy(() -> memory.prefer(1, 4096, 0)).isInstanceOf(SystemCallException.class)
        .hasMessageStartingWith("mbind of 4096 bytes at 0x1 was refused: E");
  }

  @Test
  void page_isAPowerOfTwo() {
    assertThat(memory.pageBytes()).isGreaterThanOrEqualTo(4096);
    assertThat(Long.bitCount(memory.pageBytes())).isOne();
  }

  @Test
  void functionThatTheLibraryLacks_answersEnosys() throws Throwable {
    assumeNativeCalls();
    var asInt = CLibrary.bind("penstock_missing", ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG);
    var asLong = CLibrary.bind("penstock_missing", ValueLayout.JAVA_LONG);
    assertThat(CLibrary.call(state -> (int) asInt.invokeExact(state, 1L))).isEqualTo(-SystemCallException.ENOSYS);
    assertThat(CLibrary.call(state -> (long) asLong.invokeExact(state))).isEqualTo(-SystemCallException.ENOSYS);
  }

  /// What a JVM prints that does not allow native access, and one that runs on a system that is not known.
  public static final class Elsewhere {
    private Elsewhere() {}

    public static void main(String[] args) {
      assertThatThrownBy(() -> NativeMemory.ofSystem().map(1)).isInstanceOf(SystemCallException.class)
          .hasMessage("mmap of 1 bytes was refused: " + NativeMemory.absence().orElseThrow());
      assertThatThrownBy(() -> NativeFile.openToRead(Path.of("/"))).isInstanceOf(SystemCallException.class);
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment from = arena.allocate(8).fill((byte) 3);
        MemorySegment to = arena.allocate(8);
        NativeMemory.move(from, to);
        assertThat(to.mismatch(from)).isEqualTo(-1);
      }
      assertThat(NativeMemory.ofSystem().pageBytes()).isEqualTo(4096);
      System.out.print(NativeMemory.absence().orElseThrow());
    }
  }

  @Test
  void systemWithoutNativeCalls_saysWhy_withEachCall() throws Exception {
    assertThat(elsewhere("--illegal-native-access=deny"))
        .isEqualTo("the JVM must run with --enable-native-access=ALL-UNNAMED (was run without)");
    assertThat(elsewhere("-Dos.arch=pdp11")).isEqualTo("the calls of Linux on pdp11 are not known");
  }

  private static String elsewhere(String flag) throws Exception {
    Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), flag,
        "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), Elsewhere.class.getName())
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String said = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    return said;
  }

  @Test
  void move_copiesAlsoWhereTheTwoOverlap() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocateFrom("abcdef");
      NativeMemory.move(bytes.asSlice(0, 4), bytes.asSlice(2));
      assertThat(bytes.getString(0)).isEqualTo("ababcd");
      assertThatThrownBy(() -> NativeMemory.move(bytes, bytes.asSlice(1))).isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessage("bytes must be <= 6 (was 7)");
    }
  }

  @Test
  void pagesAndNodes_areReadFromTheSystem_missingOnesAreNone(@TempDir Path folder) throws IOException {
    SystemPages pages = new SystemPages(folder);
    assertThat(pages.free(2 << 20)).isZero();
    assertThat(pages.takesAdvice()).isFalse();
    assertThat(pages.nodes()).isEmpty();
    Path large = Files.createDirectories(folder.resolve("kernel/mm/hugepages/hugepages-2048kB"));
    Files.writeString(large.resolve("free_hugepages"), "5\n");
    Files.writeString(large.resolve("resv_hugepages"), "2\n");
    Files.createDirectories(folder.resolve("devices/system/node/node1"));
    Files.createDirectories(folder.resolve("devices/system/node/node0"));
    Files.createDirectories(folder.resolve("devices/system/node/power"));
    assertThat(pages.free(2 << 20)).isEqualTo(3);
    assertThat(pages.nodes()).isEqualTo(List.of(0, 1));
    assertThat(pages.hasNode(2)).isFalse();
  }
}
