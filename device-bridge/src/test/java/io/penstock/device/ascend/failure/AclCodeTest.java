package io.penstock.device.ascend.failure;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.TransientKvException;
import io.penstock.device.ascend.AscendSetting;
import io.penstock.device.ascend.failure.AclCode.Kind;
import io.penstock.device.ascend.failure.AscendFailure.AscendRefusedException;
import io.penstock.device.ascend.failure.AscendFailure.AscendUnavailableException;
import io.penstock.device.ascend.failure.AscendFailure.AscendUnsupportedException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Each code that the library answers is one exception; the numbers are written down here once more.
final class AclCodeTest {
  private static final Map<AclCode.Kind, List<Integer>> TABLE = Map.of(
      Kind.ARGUMENT, List.of(100_000, 107_000),
      Kind.DEVICE, List.of(107_001),
      Kind.HANDLE, List.of(107_002, 107_003, 107_017),
      Kind.UNSUPPORTED, List.of(200_006, 207_000, 107_030),
      Kind.MEMORY, List.of(200_000, 207_001, 207_018),
      Kind.TIMEOUT, List.of(107_019, 107_020, 207_020, 507_046),
      Kind.ABORTED, List.of(107_022, 107_023),
      Kind.HARDWARE, List.of(507_053, 507_056, 507_901),
      Kind.INTERNAL, List.of(500_000, 500_001, 507_000));

  @Test
  void everyCode_isOfOneKind() {
    Map<Kind, List<Integer>> found = Arrays.stream(AclCode.values()).map(AclCode::number).sorted()
        .collect(Collectors.groupingBy(AclCode::kind));
    assertThat(found).containsExactlyInAnyOrderEntriesOf(TABLE.entrySet().stream()
        .collect(Collectors.toMap(Map.Entry::getKey, row -> row.getValue().stream().sorted().toList())));
    assertThat(TABLE).containsOnlyKeys(Kind.values());
  }

  @ParameterizedTest
  @EnumSource
  void everyKind_isOneException_transientIfItMayPass(Kind kind) {
    Class<?> expected = switch (kind) {
      case UNSUPPORTED -> AscendUnsupportedException.class;
      case ARGUMENT, DEVICE, HANDLE, HARDWARE -> AscendRefusedException.class;
      case MEMORY, TIMEOUT, ABORTED, INTERNAL -> AscendUnavailableException.class;
    };
    for (int code : TABLE.get(kind)) {
      RuntimeException failure = AclCode.exception(new AclError("aclrtMemcpy", code, ""));
      assertThat(failure).isInstanceOf(expected);
      assertThat(failure instanceof TransientKvException).isEqualTo(expected == AscendUnavailableException.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void explained_ofTimeoutsAlone_namesTheSetting(AclCode code) {
    boolean isTimeout = TABLE.get(Kind.TIMEOUT).contains(code.number());
    assertThat(AclCode.isTimeout(code.number())).isEqualTo(isTimeout);
    assertThat(AclCode.explained(code.number()).contains("ASCEND_TRANSFER_TIMEOUT")).isEqualTo(isTimeout);
  }

  @Test
  void timeoutSetting_isThatOfTheSettings() {
    AscendSetting setting = AscendSetting.TRANSFER_TIMEOUT;
    assertThat(AclCode.TIMEOUT_SETTING).isEqualTo(setting.key() + ", " + String.join(", ", setting.variables()));
  }

  @Test
  void tag_ofACodeThatIsNotKnown_isOther() {
    assertThat(AclCode.tag(42)).isEqualTo("other");
    assertThat(AclCode.tag(507_046)).isEqualTo("rt_stream_sync_timeout");
  }
}
