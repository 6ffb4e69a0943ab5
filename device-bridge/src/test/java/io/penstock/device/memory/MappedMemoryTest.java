package io.penstock.device.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.block.BlockScope;
import io.penstock.system.NativeMemory;
import io.penstock.system.PeerRegion;
import io.penstock.system.SharedRegion;
import io.penstock.system.SystemPages;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
final class MappedMemoryTest {
  private static final long MIB = 1 << 20;

  @TempDir
  private Path system;

  private final MemoryFigures figures = new MemoryFigures();
  private RecordedCalls calls;

  @BeforeEach
  void aMachineWithLargePages() throws IOException {
    calls = new RecordedCalls();
    pages(1 << 20, 2);
    pages(2 << 10, 1024);
    write("kernel/mm/transparent_hugepage/enabled", "always [madvise] never");
    write("devices/system/node/node0/numastat", "");
  }

  private void pages(int kilobytes, int free) throws IOException {
    String folder = "kernel/mm/hugepages/hugepages-" + kilobytes + "kB/";
    write(folder + "free_hugepages", String.valueOf(free));
    write(folder + "resv_hugepages", "0");
  }

  private void write(String file, String text) throws IOException {
    Path path = system.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text + "\n");
  }

  private MappedMemory memory(MappedOptions options) {
    return new MappedMemory(options, figures, calls, new SystemPages(system));
  }

  private static List<String> wanted(HostMemory memory) {
    return memory.fallbacks().stream().map(Fallback::wanted).toList();
  }

  /// Writes all of it and reads it again.
  private static void use(HostMemory memory) {
    memory.segment().fill((byte) 7);
    assertThat(memory.segment().get(JAVA_BYTE, memory.bytes() - 1)).isEqualTo((byte) 7);
  }

  @ParameterizedTest
  @CsvSource({"8, PAGES_2M, map 2^21|advise POPULATE_WRITE", "15, PAGES_2M, map 2^21|advise POPULATE_WRITE",
    "7, PLAIN, map"})
  void pages_areTheLargestThatDoNotWasteAnEighth(long mib, PageKind kind, String made) {
    try (HostMemory memory = memory(MappedOptions.defaults()).map(mib * MIB)) {
      assertThat(memory.pages()).isEqualTo(kind);
      assertThat(calls.log).containsExactly(made.split("\\|"));
      use(memory);
    }
    assertThat(calls.log).endsWith("unmap");
  }

  @Test
  void eachRung_refused_isUndoneBeforeTheNextIsTried() {
    calls.refuse("map 2^21", 12);
    try (HostMemory memory = memory(MappedOptions.defaults()).map(8 * MIB)) {
      assertThat(memory.pages()).isEqualTo(PageKind.ADVISED_2M);
      assertThat(memory.address() % (2 * MIB)).isZero();
      assertThat(memory.fallbacks()).containsExactly(
          new Fallback("pages of 1 GiB", "more than an eighth of it would be wasted"),
          new Fallback("pages of 2 MiB", "mmap was refused: ENOMEM, no memory or a limit of the process"));
      use(memory);
    }
    assertThat(figures.fallbacks()).isEqualTo(2);
    calls.log.clear();
    calls.refuse("advise LARGE_PAGES", 22);
    try (HostMemory memory = memory(MappedOptions.defaults()).map(8 * MIB)) {
      assertThat(memory.pages()).isEqualTo(PageKind.PLAIN);
      assertThat(wanted(memory)).containsExactly("pages of 1 GiB", "pages of 2 MiB",
          "pages of 2 MiB as the system likes");
      assertThat(calls.log).startsWith("map 2^21!", "map").endsWith("advise LARGE_PAGES!", "unmap", "map");
      use(memory);
    }
    calls.refuse("map", 12);
    assertThatThrownBy(() -> memory(MappedOptions.defaults()).map(8 * MIB)).isInstanceOfSatisfying(
        HostMemoryRefusedException.class,
        e -> assertThat(e.tried()).hasSize(4)).hasMessageStartingWith(
            "mapped memory: 8388608 bytes of host memory must be available (was refused): pages of 1 GiB: more than");
  }

  @Test
  void pagesThatAreNotThereAfterAll_areARefusalAndNotTheEndOfTheProcess() {
    calls.refuse("advise POPULATE_WRITE", 14);
    try (HostMemory memory = memory(MappedOptions.defaults()).map(8 * MIB)) {
      assertThat(memory.pages()).isEqualTo(PageKind.ADVISED_2M);
      assertThat(calls.log).startsWith("map 2^21", "advise POPULATE_WRITE!", "unmap");
      assertThat(memory.fallbacks().getLast().reason()).isEqualTo("madvise was refused: EFAULT, no pages for it");
    }
  }

  @Test
  void systemThatCannotMakePagesAhead_givesThemAllTheSame() {
    calls.refuse("advise POPULATE_WRITE", 22);
    try (HostMemory memory = memory(MappedOptions.defaults()).map(8 * MIB)) {
      assertThat(memory.pages()).isEqualTo(PageKind.PAGES_2M);
    }
  }

  @Test
  void freePages_leaveOutThosePromised() throws IOException {
    pages(2 << 10, 4);
    write("kernel/mm/hugepages/hugepages-2048kB/resv_hugepages", "1");
    try (HostMemory memory = memory(MappedOptions.defaults()).map(8 * MIB)) {
      assertThat(memory.fallbacks()).contains(new Fallback("pages of 2 MiB", "4 must be free (was 3)"));
    }
    write("kernel/mm/hugepages/hugepages-2048kB/nr_overcommit_hugepages", "1");
    try (HostMemory memory = memory(MappedOptions.defaults()).map(8 * MIB)) {
      assertThat(memory.pages()).isEqualTo(PageKind.PAGES_2M);
    }
  }

  @Test
  void hugePagesOnly_orNone() throws IOException {
    pages(2 << 10, 3);
    assertThatThrownBy(() -> memory(MappedOptions.defaults().withPages(MemoryPages.HUGE)).map(8 * MIB))
        .isInstanceOf(HostMemoryRefusedException.class).hasMessageEndingWith("pages of 2 MiB: 4 must be free (was 3)");
    assertThat(calls.log).isEmpty();
  }

  @Test
  void sharedPages_areReadThroughAnotherMapping_andGoWithTheMemory() throws IOException {
    assumeTrue(NativeMemory.absence().isEmpty());
    MappedOptions shared = MappedOptions.defaults().withPages(MemoryPages.SHARED);
    long address;
    try (HostMemory memory = memory(shared).map(MIB)) {
      address = memory.address();
      assertThat(memory.pages()).isEqualTo(PageKind.SHARED);
      use(memory);
      SharedRegion region = requireNonNull(SharedRegion.at(address));
      try (PeerRegion peer = PeerRegion.map(ProcessHandle.current().pid(), region.descriptor(),
          SharedRegion.Kind.BLOCKS)) {
        assertThat(peer.memory().get(JAVA_BYTE, region.offset(address + MIB - 1))).isEqualTo((byte) 7);
      }
    }
    assertThat(SharedRegion.at(address)).isNull();
  }

  @Test
  void lock_isKept_orIsAFallback() {
    MappedOptions locked = MappedOptions.defaults().withPages(MemoryPages.PLAIN).withLock(true);
    try (HostMemory memory = memory(locked).map(4096)) { // less than any limit
      assertThat(memory.fallbacks()).isEmpty();
      assertThat(calls.log).containsExactly("map", "lock");
      assertThat(memory.kind()).isEqualTo(new MemoryKind(PageKind.PLAIN, OptionalInt.empty(), true));
    }
    calls.refuse("lock", 12);
    try (HostMemory memory = memory(locked).map(MIB)) {
      assertThat(memory.fallbacks())
          .containsExactly(
              new Fallback("locked memory", "mlock was refused: ENOMEM, no memory or a limit of the process"));
      assertThat(memory.kind()).isEqualTo(MemoryKind.of(PageKind.PLAIN));
      use(memory);
    }
  }

  @Test
  void node_isPreferredBeforeThePagesAreMade_orIsAFallback() {
    MappedOptions bound = MappedOptions.defaults().withNode(OptionalInt.of(0));
    try (HostMemory memory = memory(bound).map(8 * MIB)) {
      assertThat(calls.log).containsExactly("map 2^21", "prefer 0", "advise POPULATE_WRITE");
      assertThat(memory.kind()).isEqualTo(new MemoryKind(PageKind.PAGES_2M, OptionalInt.of(0), false));
      use(memory);
    }
    calls.refuse("prefer 0", 1);
    try (HostMemory memory = memory(bound).map(8 * MIB)) {
      assertThat(memory.fallbacks().getLast())
          .isEqualTo(new Fallback("memory of node 0", "mbind was refused: EPERM, not permitted"));
      assertThat(memory.kind().node()).isEmpty();
    }
    try (HostMemory memory = memory(bound.withNode(OptionalInt.of(2))).map(8 * MIB)) {
      assertThat(memory.fallbacks().getLast()).isEqualTo(new Fallback("memory of node 2", "there is no such node"));
    }
    assertThatThrownBy(() -> MappedOptions.defaults().withNode(OptionalInt.of(1024)))
        .hasMessage("node must be in [0, 1024) (was 1024)");
  }

  @Test
  void systemWithoutItsCalls_isTheJdksMemory_whichIsSaid() {
    MappedMemory elsewhere = new MappedMemory(MappedOptions.defaults(), figures, null, new SystemPages(system));
    try (HostMemory memory = elsewhere.map(MIB)) {
      assertThat(memory.pages()).isEqualTo(PageKind.JDK);
      assertThat(memory.fallbacks()).hasSize(4).allMatch(fallback -> fallback.reason().endsWith("are not known"));
      assertThat(figures.bytes(PageKind.JDK)).isEqualTo(MIB);
      use(memory);
    }
    assertThat(figures.bytes(PageKind.JDK)).isZero();
  }

  @ParameterizedTest
  @EnumSource(names = {"AUTO", "PLAIN"})
  void thisMachine_givesMemory_andHasItBackAfterwards(MemoryPages wish) throws IOException {
    MappedMemory memory =
        new MappedMemory(MappedOptions.defaults().withPages(wish).withNode(OptionalInt.of(0)), figures);
    memory.map(64 * MIB).close();
    long before = addressSpace();
    BlockScope scope = new BlockScope();
    for (int i = 0; i < 100; i++) {
      HostMemory piece = memory.allocate((1 + i % 64) * MIB, scope).blockOptional().orElseThrow();
      piece.segment().set(JAVA_BYTE, piece.bytes() - 1, (byte) i);
      if (i % 2 == 0) {
        piece.close();
      }
    }
    assertThat(addressSpace()).isGreaterThan(before + 1000 * MIB);
    scope.close();
    assertThat(addressSpace()).isLessThan(before + 64 * MIB);
    assertThat(Stream.of(PageKind.values()).mapToLong(figures::bytes).sum()).isZero();
  }

  /// Bytes of this process that are mapped.
  private static long addressSpace() throws IOException {
    return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[0]) * 4096;
  }

  @Test
  void closedMemory_isBeyondReach() {
    HostMemory memory = memory(MappedOptions.defaults()).map(MIB);
    memory.close();
    memory.close();
    assertThatThrownBy(() -> memory.segment().get(JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
    assertThat(calls.log).containsOnlyOnce("unmap");
  }
}
