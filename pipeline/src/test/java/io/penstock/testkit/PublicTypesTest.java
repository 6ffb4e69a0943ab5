package io.penstock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PublicTypesTest {
  @Test
  void publicTopLevelTypes_areListed_andNoOthers() {
    Path classes = Path.of(System.getProperty("basedir", ""), "target/test-classes");

    assertThat(PublicTypes.inClasses(classes))
        .contains("io.penstock.testkit.PublicTypes")
        .doesNotContain("io.penstock.testkit.PublicTypesTest", "io.penstock.testkit.package-info")
        .noneMatch(name -> name.contains("$"))
        .isSorted();
  }

  @Test
  void aFolderWithoutClasses_isNoPublicFace(@TempDir Path empty) {
    assertThatIllegalStateException().isThrownBy(() -> PublicTypes.inClasses(empty));
  }
}
