package io.penstock.device.ascend;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// The table of settings, and the manual's copy of it.
final class AscendSettingTest {
  private static final Path MANUAL =
      Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("docs/ascend.md");
  private static final String HEAD = "| Setting | Also | Default | Meaning | Without effect, because |";

  @Test
  void manual_hasARowForEachSetting_andNoOther() throws IOException {
    List<String> lines = Files.readAllLines(MANUAL);
    List<String> rows = lines.stream().skip(lines.indexOf(HEAD) + 2L).takeWhile(line -> line.startsWith("|")).toList();

    assertThat(lines).contains(HEAD);
    assertThat(rows)
        .containsExactlyElementsOf(Arrays.stream(AscendSetting.values()).map(AscendSettingTest::row).toList());
  }

  private static String row(AscendSetting setting) {
    String also = setting.variables().stream().map(name -> "`" + name + "`").collect(Collectors.joining(", "));
    return "| `%s` | %s | %s | %s | %s |"
        .formatted(setting.key(), also, setting.initial(), setting.meaning(), setting.noEffect().orElse(""))
        .replace("|  |", "| |");
  }

  @Test
  void names_areUnique() {
    Set<String> names = new HashSet<>();
    for (AscendSetting setting : AscendSetting.values()) {
      assertThat(names.add(setting.key())).as(setting.key()).isTrue();
      assertThat(setting.variables()).allSatisfy(name -> assertThat(names.add(name)).as(name).isTrue());
    }
  }
}
