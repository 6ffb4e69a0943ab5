package io.penstock.storage.engine;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.storage.engine.EngineFailure.EngineUnavailableException;
import org.junit.jupiter.api.Test;

final class OpenFilesTest {
  private static final String LIMITS = """
      Limit                     Soft Limit           Hard Limit           Units
      Max open files            160                  1048576              files
      """;

  @Test
  void tooFew_areToldWithTheNumberNeeded() {
    assertThatThrownBy(() -> OpenFiles.require("plain", 10, LIMITS)).isInstanceOf(EngineUnavailableException.class)
        .hasMessage("engine plain must be run by a process that may open 276 files, for 10 segments (`ulimit -n`)"
            + " (was 160)");
  }

  @Test
  void enough_orUnknown_areNotToldOf() {
    assertThatCode(() -> OpenFiles.require("plain", 10, LIMITS.replace(" 160 ", " 276 "))).doesNotThrowAnyException();
    assertThatCode(() -> OpenFiles.require("plain", 10, "")).doesNotThrowAnyException();
  }
}
