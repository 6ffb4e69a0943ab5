package io.penstock.device.ascend;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.penstock.block.BlockScope;
import io.penstock.device.DeviceFailure.DeviceMemoryExhaustedException;
import io.penstock.device.DeviceMemory;
import io.penstock.device.SharedName.FabricHandle;
import io.penstock.device.ascend.DriverDouble.Call;
import io.penstock.device.ascend.DriverDouble.Profile;
import io.penstock.device.ascend.failure.AscendFailure.AscendRefusedException;
import io.penstock.device.ascend.failure.AscendFailure.AscendUnavailableException;
import io.penstock.device.ascend.failure.AscendFailure.AscendUnsupportedException;
import io.penstock.device.memory.Fallback;
import io.penstock.device.memory.HostMemory;
import io.penstock.device.memory.HostMemoryRefusedException;
import io.penstock.device.memory.MemoryFigures;
import io.penstock.device.memory.MemoryKind;
import io.penstock.device.memory.PageKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// Which pages the driver is asked for, in which order, and what is undone when it refuses.
@Timeout(120)
final class DriverPagesTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final long GIB = 1L << 30;
  private static final int NO_MEMORY = 200_000;

  private static List<DriverDouble> drivers;

  private final BlockScope scope = new BlockScope();
  private final MemoryFigures figures = new MemoryFigures();
  private final List<AscendDevice> opened = new ArrayList<>();
  private DriverDouble driver;
  private AscendDevices devices;

  @BeforeAll
  static void compile() {
    drivers = IntStream.range(0, Profile.values().length).mapToObj(i -> DriverDouble.of(Profile.values()[i])).toList();
  }

  private AscendDevice open(Profile profile, int ordinal) {
    return open(profile, ordinal, AscendOptions.defaults());
  }

  private AscendDevice open(Profile profile, int ordinal, AscendOptions options) {
    if (devices == null) {
      driver = drivers.get(profile.ordinal()).reset(16, GIB);
      devices = AscendDevices.find(options.withLibrary(driver.path()), AscendListener.noop()).orElseThrow();
    }
    AscendDevice device = requireNonNull(devices.open(ordinal).block(LIMIT));
    opened.add(device);
    return device;
  }

  private HostMemory allocate(AscendDevice device, long bytes) {
    return requireNonNull(device.hostMemory(figures).allocate(bytes, scope).block(LIMIT));
  }

  @AfterEach
  void nothingIsLeft() {
    scope.close();
    opened.forEach(device -> device.close().block(LIMIT));
    devices.close().block(LIMIT);
    assertThat(driver.alive()).isEqualTo(new DriverDouble.Alive(0, 0, 0));
    assertThat(driver.physicals()).isZero();
    assertThat(figures.bytesByKind()).isEmpty();
    for (PageKind kind : PageKind.values()) {
      assertThat(figures.bytes(kind)).isZero();
    }
  }

  /// The calls for memory; refused ones have a mark.
  private List<String> calls() {
    return driver.log().stream().filter(call -> call.function().matches("aclrt.*(Mem|Physical|Host|Access).*")
        && !call.function().matches("aclrt(GetMemInfo|Memcpy.*)")).map(DriverPagesTest::text).toList();
  }

  private static String text(Call call) {
    String name = call.function().substring("aclrt".length());
    return (name.equals("MallocPhysical") ? name + " " + call.elements() + "/" + call.direction() : name)
        + (call.code() == 0 ? "" : "!");
  }

  @ParameterizedTest
  @EnumSource
  void host_givesThePagesOfItsNode_whichGoBackInReverse(Profile profile) {
    AscendDevice device = open(profile, 0);
    HostMemory memory = allocate(device, GIB);
    memory.segment().set(JAVA_BYTE, GIB - 1, (byte) 5);
    assertThat(memory.pages()).isEqualTo(PageKind.NODE_1G);
    assertThat(memory.fallbacks()).isEmpty();
    memory.close();
    device.close().block(LIMIT);
    List<String> expected =
        new ArrayList<>(List.of("MallocPhysical 4/17", "ReserveMemAddress", "MapMem", "UnmapMem", "ReleaseMemAddress",
            "FreePhysical"));
    if (profile == Profile.CANN_90) {
      expected.add(3, "MemSetAccess");
    }
    assertThat(calls()).isEqualTo(expected);
    assertThatThrownBy(() -> memory.segment().get(JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
  }

  /// The double's own limits refuse this many kinds of pages.
  @ParameterizedTest
  @CsvSource({"0, NODE_1G", "1, HOST_1G", "2, HOST_2M"})
  void rungWithoutPages_isPassedOver(int refused, PageKind kind) {
    AscendDevice device = open(Profile.CANN_90, 0);
    driver.limits(Long.MAX_VALUE, refused > 1 ? GIB - 1 : Long.MAX_VALUE, refused > 0 ? GIB - 1 : Long.MAX_VALUE);
    HostMemory memory = allocate(device, GIB);
    assertThat(memory.pages()).isEqualTo(kind);
    assertThat(memory.fallbacks()).hasSize(refused);
    assertThat(calls().stream().filter(call -> call.startsWith("MallocPhysical")).toList())
        .isEqualTo(List.of(List.of("MallocPhysical 4/17"), List.of("MallocPhysical 4/17!", "MallocPhysical 0/17"),
            List.of("MallocPhysical 4/17!", "MallocPhysical 0/17!", "MallocPhysical 0/16")).get(refused));
    assertThat(figures.fallbacks()).isEqualTo(refused);
    assertThat(figures.bytes(kind)).isEqualTo(GIB);
  }

  @ParameterizedTest
  @CsvSource({"aclrtReserveMemAddress, FreePhysical", "aclrtMapMem, ReleaseMemAddress FreePhysical",
    "aclrtMemSetAccess, UnmapMem ReleaseMemAddress FreePhysical"})
  void stepThatFails_undoesThoseBefore_inReverse_andTheNextRungIsTried(String step, String undone) {
    AscendDevice device = open(Profile.CANN_90, 0);
    driver.fail(step, 1, 1, NO_MEMORY, -1);
    assertThat(allocate(device, GIB).pages()).isEqualTo(PageKind.HOST_1G);
    List<String> calls = calls();
    int failed = calls.indexOf(step.substring("aclrt".length()) + "!");
    assertThat(String.join(" ", calls.subList(failed + 1, calls.indexOf("MallocPhysical 0/17")))).isEqualTo(undone);
  }

  @Test
  void smallPieces_areNotOfLargePages() {
    AscendDevice device = open(Profile.CANN_90, 0);
    assertThat(allocate(device, 1 << 20).pages()).isEqualTo(PageKind.HOST);
    assertThat(allocate(device, 16 << 20).pages()).isEqualTo(PageKind.HOST_2M);
    assertThat(calls()).containsExactly("MallocHost", "MallocPhysical 0/16", "ReserveMemAddress", "MapMem",
        "MemSetAccess");
  }

  @Test
  void noMemoryAtAll_saysWhatWasTried() {
    AscendDevice device = open(Profile.CANN_83, 0);
    driver.limits(GIB - 1, Long.MAX_VALUE, Long.MAX_VALUE);
    assertThatThrownBy(() -> allocate(device, GIB)).isInstanceOfSatisfying(HostMemoryRefusedException.class, e -> {
      assertThat(e.tried()).extracting(Fallback::wanted).containsExactly("pages of 1 GiB on the node of the device",
          "pages of 1 GiB that the device reaches", "pages of 2 MiB that the device reaches",
          "memory that the device reaches");
      assertThat(e.tried()).allMatch(each -> each.reason().contains("200000"));
    });
    assertThat(figures.fallbacks()).isZero();
  }

  /// Sizes that fit, and what is got of 10 GiB.
  @ParameterizedTest
  @CsvSource({"10, 10", "9, 9", "7, 7", "5, 5"})
  void bestEffort_takesTheMostThatFits(long fits, long got) {
    AscendDevice device = open(Profile.CANN_90, 0);
    driver.limits(fits * GIB, Long.MAX_VALUE, Long.MAX_VALUE);
    HostMemory memory = requireNonNull(device.hostMemory(figures).allocateUpTo(10 * GIB, scope).block(LIMIT));
    assertThat(memory.bytes()).isEqualTo(got * GIB);
    assertThat(memory.pages()).isEqualTo(PageKind.NODE_1G);
  }

  @Test
  void bestEffort_isNeverLessThanAHalf() {
    AscendDevice device = open(Profile.CANN_90, 0);
    driver.limits(5 * GIB - 1, Long.MAX_VALUE, Long.MAX_VALUE);
    assertThatThrownBy(() -> device.hostMemory(figures).allocateUpTo(10 * GIB, scope).block(LIMIT))
        .isInstanceOfSatisfying(HostMemoryRefusedException.class, e -> assertThat(e.bytes()).isEqualTo(5 * GIB));
  }

  @Test
  void failureOfTheDevice_isNoMatterOfPages() {
    AscendDevice device = open(Profile.CANN_90, 0);
    driver.fail("aclrtMapMem", 1, 1, 507_053, -1);
    assertThatThrownBy(() -> allocate(device, GIB)).isInstanceOf(AscendRefusedException.class)
        .satisfies(Answers.code(507_053));
    assertThat(calls()).endsWith("MapMem!", "ReleaseMemAddress", "FreePhysical");
  }

  @Test
  void stepThatCannotBeUndone_endsTheLadder() {
    AscendDevice device = open(Profile.CANN_90, 0);
    driver.fail("aclrtMapMem", 1, 1, NO_MEMORY, -1);
    driver.fail("aclrtReleaseMemAddress", 1, 1, 500_000, -1);
    assertThatThrownBy(() -> allocate(device, GIB)).isInstanceOf(AscendUnavailableException.class)
        .satisfies(Answers.code(NO_MEMORY))
        .satisfies(e -> assertThat(e.getSuppressed()).anySatisfy(Answers.code(500_000)));
    assertThat(calls()).endsWith("MapMem!", "ReleaseMemAddress!", "FreePhysical");
    driver.reset(16, GIB);
  }

  @Test
  void node_isEven_andSharedByFour() {
    assertThat(IntStream.range(0, 16).map(DriverPages::node)).containsExactly(0, 0, 0, 0, 2, 2, 2, 2, 4, 4, 4, 4, 6, 6,
        6, 6);
    AscendDevice device = open(Profile.CANN_90, 13);
    assertThat(allocate(device, GIB).pages()).isEqualTo(PageKind.NODE_1G); // the double has memory on even nodes only
  }

  @Test
  void close_ofTheDevice_endsAllAccess_andGivesAllBack() {
    AscendDevice device = open(Profile.CANN_90, 0);
    HostMemory memory = allocate(device, GIB);
    device.close().block(LIMIT);
    assertThatThrownBy(() -> memory.segment().get(JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
    assertThat(driver.physicals()).isZero();
    memory.close();
  }

  @ParameterizedTest
  @EnumSource(names = {"CANN_83", "CANN_90"})
  void fabricMemory_ofOneDevice_isMappedByAnother(Profile profile) {
    AscendDevice owner = open(profile, 0);
    AscendDevice guest = open(profile, 5);
    HostMemory memory = allocate(owner, GIB);
    FabricHandle handle = requireNonNull(owner.export(memory).block(LIMIT));
    DeviceMemory shared = requireNonNull(guest.importShared(handle, GIB, scope).block(LIMIT));
    DeviceMemory device = requireNonNull(guest.allocate(4096, scope).block(LIMIT));

    memory.segment().asSlice(GIB - 4096).fill((byte) 9);
    CopyRequest request = new CopyRequest(2);
    request.add(shared.address() + GIB - 4096, device.address(), 4096);
    request.add(device.address(), memory.address(), 4096);
    assertThat(requireNonNull(guest.copy(request).block(LIMIT)).isComplete()).isTrue();
    shared.close();
    guest.close().block(LIMIT);
    assertThat(calls()).endsWith("UnmapMem", "ReleaseMemAddress", "FreePhysical");
  }

  @Test
  void sharedMemory_isOfPagesWithAHandle_orNone() {
    AscendDevice device = open(Profile.CANN_90, 0, AscendOptions.defaults().withShared(true));
    assertThat(allocate(device, 16 << 20).pages()).isEqualTo(PageKind.HOST_2M);
    assertThatThrownBy(() -> allocate(device, 1 << 20)).isInstanceOfSatisfying(HostMemoryRefusedException.class,
        e -> assertThat(e.tried()).hasSize(3));
    assertThat(calls()).doesNotContain("MallocHost");
  }

  @Test
  void sharedMemory_ofADevice_isMappedByAnother() {
    AscendDevice owner = open(Profile.CANN_90, 0, AscendOptions.defaults().withShared(true));
    AscendDevice guest = open(Profile.CANN_90, 5);
    DeviceMemory memory = requireNonNull(owner.allocate(5000, scope).block(LIMIT));
    assertThat(calls()).containsExactly("MallocPhysical 1/4", "ReserveMemAddress", "MapMem", "MemSetAccess");
    FabricHandle handle = requireNonNull(owner.exportToFabric(memory).block(LIMIT));
    DeviceMemory shared = requireNonNull(guest.importShared(handle, 2 << 20, scope).block(LIMIT));
    assertThat(shared.address()).isNotEqualTo(memory.address());
    assertThat(owner.allocatedBytes()).isEqualTo(5000);
    assertThatThrownBy(() -> owner.allocate(GIB, scope).block(LIMIT))
        .isInstanceOf(DeviceMemoryExhaustedException.class);
    memory.close();
    assertThat(requireNonNull(owner.allocate(GIB - (2 << 20), scope).block(LIMIT)).bytes()).isPositive();
  }

  @Test
  void memory_saysItsNode_andThatItIsLocked() {
    AscendDevice device = open(Profile.CANN_90, 13);
    assertThat(allocate(device, GIB).kind()).isEqualTo(new MemoryKind(PageKind.NODE_1G, OptionalInt.of(6), true));
    assertThat(allocate(device, 16 << 20).kind())
        .isEqualTo(new MemoryKind(PageKind.HOST_2M, OptionalInt.empty(), true));
    assertThat(figures.bytesByKind()).containsExactly(
        entry(new MemoryKind(PageKind.NODE_1G, OptionalInt.of(6), true), GIB),
        entry(new MemoryKind(PageKind.HOST_2M, OptionalInt.empty(), true), 16L << 20));
  }

  @Test
  void libraryWithoutFabric_hasTheMemoryButNoHandle() {
    AscendDevice device = open(Profile.CANN_82, 0);
    HostMemory memory = allocate(device, GIB);
    assertThatThrownBy(() -> device.export(memory).block(LIMIT)).isInstanceOf(AscendUnsupportedException.class)
        .hasMessageContaining("aclrtMemExportToShareableHandleV2");
    HostMemory small = allocate(device, 1 << 20);
    assertThatThrownBy(() -> device.export(small).block(LIMIT)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void libraryWithoutPhysicalMemory_givesWhatItLikes() {
    driver = DriverDouble.of(Profile.CANN_82, "-DaclrtMallocPhysical=renamed").reset(1, GIB);
    devices =
        AscendDevices.find(AscendOptions.defaults().withLibrary(driver.path()), AscendListener.noop()).orElseThrow();
    HostMemory memory = allocate(open(Profile.CANN_82, 0), GIB);
    assertThat(memory.pages()).isEqualTo(PageKind.HOST);
    assertThat(memory.fallbacks()).hasSize(3)
        .allMatch(each -> each.reason().startsWith("aclrtMallocPhysical must answer 0 (was 200006"));
  }
}
