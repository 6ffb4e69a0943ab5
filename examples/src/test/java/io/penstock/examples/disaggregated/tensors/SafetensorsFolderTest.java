package io.penstock.examples.disaggregated.tensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Weights in several files.
final class SafetensorsFolderTest {
  private static final String FIRST = "model-00001-of-00002.safetensors";
  private static final String SECOND = "model-00002-of-00002.safetensors";

  @TempDir
  private Path folder;

  /// `a` and `b` in the first file, `c` in the second; their numbers are in ascending order.
  private void write(String weightMap) throws IOException {
    SafetensorsWriter first = new SafetensorsWriter((name, shape) -> new float[] {0, 1, 2, 3, 4, 5}, StoredType.BF16);
    first.tensor("a", 2, 3);
    first.tensor("b", 6);
    first.write(folder.resolve(FIRST));
    SafetensorsWriter second = new SafetensorsWriter((name, shape) -> new float[] {6, 7}, StoredType.F32);
    second.tensor("c", 2);
    second.write(folder.resolve(SECOND));
    Files.writeString(folder.resolve(SafetensorsFolder.INDEX),
        "{\"metadata\":{\"total_size\":32},\"weight_map\":" + names(weightMap) + "}");
  }

  private static String names(String text) {
    return text.replace('\'', '"').replace("@1", '"' + FIRST + '"').replace("@2", '"' + SECOND + '"');
  }

  @Test
  void tensors_comeFromTheFilesOfTheIndex() throws IOException {
    write("{'a':@1,'b':@1,'c':@2}");
    try (SafetensorsFolder all = SafetensorsFolder.open(folder)) {
      assertThat(all.names()).containsExactlyInAnyOrder("a", "b", "c");
      assertThat(all.tensor("a", 2, 3)).containsExactly(0, 1, 2, 3, 4, 5);
      assertThat(all.tensor("c", 2)).containsExactly(6, 7);
      assertThatThrownBy(() -> all.tensor("d", 1)).isInstanceOf(ModelFileException.class)
          .hasMessageEndingWith("index.json: tensor d must be there (is missing)");
    }
  }

  @Test
  void part_hasTheRowsAndColumnsOfTheCut() throws IOException {
    write("{'a':@1,'b':@1,'c':@2}");
    try (SafetensorsFolder all = SafetensorsFolder.open(folder)) {
      assertThat(all.part("a", Cut.rows(1, 1, 2, 3), 2, 3)).containsExactly(3, 4, 5);
      assertThat(all.part("a", Cut.columns(1, 2, 2, 3), 2, 3)).containsExactly(1, 2, 4, 5);
      assertThat(all.part("b", Cut.rows(4, 2, 6), 6)).containsExactly(4, 5);
      assertThat(all.part("a", Cut.columns(3, 0, 2, 3), 2, 3)).isEmpty();
      assertThatThrownBy(() -> all.part("a", Cut.rows(1, 2, 2, 3), 2, 3)).isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("cut must lie in a (was ");
    }
  }

  /// A cut of numbers in memory is the cut of a file.
  @Test
  void part_isThatOfTheWholeTensor() throws IOException {
    TensorSource memory = (name, shape) -> new float[] {0, 1, 2, 3, 4, 5};
    assertThat(memory.part("a", Cut.columns(1, 2, 2, 3), 2, 3)).containsExactly(1, 2, 4, 5);
    assertThat(memory.part("a", Cut.rows(1, 1, 2, 3), 2, 3)).containsExactly(3, 4, 5);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|',
      value = {"{'a':@1,'c':@2}|index.json: weight_map must name @1 for its tensor b (was left out)",
        "{'a':@1,'b':@2,'c':@2}|index.json: weight_map must name @1 for its tensor b (was @2)",
        "{'a':@1,'b':@1,'c':@2,'d':@2}|tensor d must be there, as model.safetensors.index.json says (is missing)",
        "{'a':'../x.safetensors'}|weight_map must name a .safetensors file beside it for a (was '../x.safetensors')",
        "{'a':7}|weight_map must name a .safetensors file beside it for a (was 7)",
        "{}|weight_map must name the file of each tensor (was {})",
        "{'a':@1,'a':@2}|file must be JSON without repeated names: Duplicate"})
  void indexThatDiffersFromItsFiles_isRefused(String weightMap, String rule) throws IOException {
    write(weightMap);
    String message = names(rule).replace('"' + FIRST + '"', FIRST).replace('"' + SECOND + '"', SECOND);
    assertThatThrownBy(() -> SafetensorsFolder.open(folder)).isInstanceOf(ModelFileException.class)
        .hasMessageContaining(message);
  }

  @Test
  void folder_hasOneFileOrAnIndex() throws IOException {
    assertThatThrownBy(() -> SafetensorsFolder.open(folder)).isInstanceOf(ModelFileException.class)
        .hasMessageEndingWith(
            "folder must have either model.safetensors or model.safetensors.index.json (has neither)");
    write("{'a':@1,'b':@1,'c':@2}");
    Files.copy(folder.resolve(FIRST), folder.resolve("model.safetensors"));
    assertThatThrownBy(() -> SafetensorsFolder.open(folder)).isInstanceOf(ModelFileException.class)
        .hasMessageEndingWith("(has both)");
    Files.delete(folder.resolve(SafetensorsFolder.INDEX));
    try (SafetensorsFolder one = SafetensorsFolder.open(folder)) {
      assertThat(one.names()).containsExactlyInAnyOrder("a", "b");
    }
  }

  @Test
  void missingFile_isNamed() throws IOException {
    write("{'a':@1,'b':@1,'c':@2}");
    Files.delete(folder.resolve(SECOND));
    assertThatThrownBy(() -> SafetensorsFolder.open(folder)).isInstanceOf(ModelFileException.class)
        .hasMessage(folder.resolve(SECOND) + ": file must be there, as the index says (is missing)");
  }
}
