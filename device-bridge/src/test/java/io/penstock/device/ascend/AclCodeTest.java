package io.penstock.device.ascend;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.TransientKvException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Each code that the library answers is one exception; the numbers are written down here once more.
final class AclCodeTest {
  private static final Map<Class<? extends RuntimeException>, List<Integer>> TABLE = Map.of(
      AscendArgumentException.class, List.of(100_000, 107_000),
      AscendDeviceIdException.class, List.of(107_001),
      AscendHandleException.class, List.of(107_002, 107_003, 107_017),
      AscendUnsupportedException.class, List.of(200_006, 207_000, 107_030),
      AscendMemoryException.class, List.of(200_000, 207_001, 207_018),
      AscendTimeoutException.class, List.of(107_019, 107_020, 207_020, 507_046),
      AscendAbortedException.class, List.of(107_022, 107_023),
      AscendHardwareException.class, List.of(507_053, 507_056, 507_901),
      AscendInternalException.class, List.of(500_000, 500_001, 507_000));

  @Test
  void everyCode_isOneException() {
    Map<Class<?>, List<Integer>> found = Arrays.stream(AclCode.values()).map(AclCode::number).sorted()
        .collect(Collectors.groupingBy(AclCodeTest::exception));
    assertThat(found).containsExactlyInAnyOrderEntriesOf(TABLE.entrySet().stream()
        .collect(Collectors.toMap(Map.Entry::getKey, row -> row.getValue().stream().sorted().toList())));
  }

  private static Class<?> exception(int code) {
    return AclCode.exception(new AclError("aclrtMemcpy", code, "")).getClass();
  }

  @Test
  void everyException_isOfACode() {
    assertThat(Stream.of(AscendFailure.class.getPermittedSubclasses()))
        .containsExactlyInAnyOrderElementsOf(TABLE.keySet());
  }

  @ParameterizedTest
  @EnumSource
  void code_ofWhatMayPass_isTransient(AclCode code) {
    Set<Class<?>> passing =
        Set.of(AscendTimeoutException.class, AscendMemoryException.class, AscendAbortedException.class,
            AscendInternalException.class);
    assertThat(TransientKvException.class.isAssignableFrom(exception(code.number())))
        .isEqualTo(passing.contains(exception(code.number())));
  }

  @ParameterizedTest
  @EnumSource
  void explained_ofTimeoutsAlone_namesTheSetting(AclCode code) {
    boolean isTimeout = TABLE.get(AscendTimeoutException.class).contains(code.number());
    assertThat(AclCode.isTimeout(code.number())).isEqualTo(isTimeout);
    assertThat(AclCode.explained(code.number()).contains("ASCEND_TRANSFER_TIMEOUT")).isEqualTo(isTimeout);
  }

  @Test
  void tag_ofACodeThatIsNotKnown_isOther() {
    assertThat(AclCode.tag(42)).isEqualTo("other");
    assertThat(AclCode.tag(507_046)).isEqualTo("rt_stream_sync_timeout");
  }
}
