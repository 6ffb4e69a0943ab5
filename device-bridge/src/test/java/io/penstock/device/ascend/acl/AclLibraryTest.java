package io.penstock.device.ascend.acl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.KvException;
import io.penstock.device.ascend.AscendDevices;
import io.penstock.device.ascend.AscendListener;
import io.penstock.device.ascend.AscendOptions;
import io.penstock.device.ascend.DriverDouble;
import io.penstock.device.ascend.DriverDouble.Profile;
import io.penstock.device.ascend.failure.AclCode;
import io.penstock.device.ascend.failure.AclError;
import io.penstock.device.ascend.failure.AscendFailure;
import io.penstock.device.ascend.failure.AscendFailure.AscendUnavailableException;
import io.penstock.device.ascend.failure.AscendFailure.AscendUnsupportedException;
import io.penstock.device.ascend.failure.LibraryMismatchException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class AclLibraryTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  @TempDir
  private Path folder;

  private static AscendOptions at(Path path) {
    return AscendOptions.defaults().withLibrary(path.toString());
  }

  @Test
  void layouts_areThoseOfTheHeaders() {
    assertThat(AclLayouts.sizesAndOffsets())
        .containsAllEntriesOf(Map.of("aclrtMemLocation", 8L, "aclrtMemcpyBatchAttr", 32L,
            "aclrtMemcpyBatchAttr.dstLoc", 0L, "aclrtMemcpyBatchAttr.srcLoc", 8L, "aclrtPtrAttributes", 28L,
            "aclrtPhysicalMemProp", 32L,
            "aclrtPhysicalMemProp.reserve", 24L, "aclrtMemFabricHandle", 128L, "aclrtMemAccessDesc", 24L));
  }

  @Test
  void library_thatIsNotThere_isNoDevices() {
    assertThat(AscendDevices.find(at(folder.resolve("libascendcl.so")), AscendListener.noop())).isEmpty();
  }

  @Test
  void library_thatIsNoLibrary_isAnErrorThatNamesIt() throws IOException {
    Path text = Files.writeString(folder.resolve("libascendcl.so"), "no library");
    assertThatThrownBy(() -> AscendDevices.find(at(text), AscendListener.noop()))
        .isInstanceOf(LibraryMismatchException.class)
        .hasMessage("library " + text + " cannot be loaded by this system");
  }

  @Test
  void requiredFunction_missing_isAnErrorThatNamesIt() {
    Path lacking = DriverDouble.compile(Profile.CANN_90, "-DaclrtMemcpyBatch=renamed");
    assertThatThrownBy(() -> AscendDevices.find(at(lacking), AscendListener.noop()))
        .isInstanceOf(LibraryMismatchException.class)
        .hasMessage("library " + lacking + " must export aclrtMemcpyBatch (was missing)");
  }

  @Test
  void structOfAnotherShape_isAnErrorThatNamesSizeOrOffset() {
    Path other = DriverDouble.compile(Profile.CANN_90, "-DEXTRA_FIELD=uint64_t extra;");
    assertThatThrownBy(() -> AscendDevices.find(at(other), AscendListener.noop()))
        .isInstanceOf(LibraryMismatchException.class)
        .hasMessageContaining("library " + other + ": size of aclrtMemcpyBatchAttr must be 32 (was 40)");
  }

  @Test
  void libraryWithoutATable_isAccepted() {
    AscendDevices found =
        AscendDevices.find(at(DriverDouble.compile(Profile.CANN_90, "-DNO_ABI")), AscendListener.noop()).orElseThrow();
    assertThat(found.count()).isOne();
    found.close().block(LIMIT);
  }

  @ParameterizedTest
  @EnumSource
  void optionalFunction_missing_isAFeatureLess(Profile profile) {
    AscendDevices found = AscendDevices.find(at(DriverDouble.compile(profile)), AscendListener.noop()).orElseThrow();
    assertThat(found.symbols().missing().contains(AclFunction.EXPORT_FABRIC)).isEqualTo(profile == Profile.CANN_82);
    assertThat(found.symbols().missing().contains(AclFunction.SET_ACCESS)).isEqualTo(profile != Profile.CANN_90);
    assertThat(found.socName()).isEqualTo("Ascend910B-double");
    found.close().block(LIMIT);
  }

  @Test
  void functionThatIsMissing_calledAllTheSame_throwsWhatNamesIt() {
    AclLibrary library = AclLibrary.load(DriverDouble.compile(Profile.CANN_82).toString());
    assertThatThrownBy(() -> library.handle(AclFunction.SET_ACCESS).invokeWithArguments(MemorySegment.NULL, 0L,
        MemorySegment.NULL, 0L)).isInstanceOfSatisfying(AscendUnsupportedException.class,
            e -> assertThat(e.error().function()).isEqualTo("aclrtMemSetAccess"));
  }

  @ParameterizedTest
  @EnumSource
  void code_isOneTypedExceptionWithWhatTheLibrarySaid(AclCode code) {
    RuntimeException failure = AclCode.exception(new AclError("aclrtMalloc", code.number(), "device is busy"));
    assertThat(failure).isInstanceOf(KvException.class).isInstanceOf(AscendFailure.class)
        .hasMessageStartingWith("aclrtMalloc must answer 0 (was " + code.number() + ", "
            + AclCode.meaning(code.number()) + ": device is busy)");
    assertThat(((AscendFailure) failure).error().code()).isEqualTo(code.number());
  }

  @Test
  void timeout_namesTheSettingThatAllowsMore() {
    assertThat(AclCode.exception(new AclError("aclrtSynchronizeStreamWithTimeout", 507_046, "")))
        .isInstanceOf(AscendUnavailableException.class).hasMessageContaining("ASCEND_TRANSFER_TIMEOUT");
  }

  @Test
  void codeThatIsNotKnown_isInternalAndKeepsItsNumber() {
    assertThat(AclCode.exception(new AclError("aclInit", 42, ""))).isInstanceOf(AscendUnavailableException.class)
        .hasMessage("aclInit must answer 0 (was 42, unknown code)");
  }
}
