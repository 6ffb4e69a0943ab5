package io.penstock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.penstock.testkit.Exports.Audience;
import io.penstock.testkit.PublicTypes.PublicType;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PublicTypesTest {
  @Test
  void publicTopLevelTypes_areListed_andNoOthers() {
    Path classes = Path.of(System.getProperty("basedir", ""), "target/test-classes");

    assertThat(PublicTypes.inClasses(classes)).extracting(PublicType::name)
        .contains("io.penstock.testkit.PublicTypes")
        .doesNotContain("io.penstock.testkit.PublicTypesTest", "io.penstock.testkit.package-info")
        .noneMatch(name -> name.contains("$"))
        .isSorted();
  }

  @Test
  void typesInAType_countWhereAllAroundThemIsPublic() {
    Path classes = Path.of(System.getProperty("basedir", ""), "target/test-classes");

    assertThat(PublicTypes.inClasses(classes)).contains(new PublicType("io.penstock.testkit.OpenNest", 4));
  }

  @Test
  void audience_isNeverWiderThanThePackage() {
    Exports exports = Exports.parse("module io.penstock {\n exports io.penstock.a;\n exports io.penstock.b to x;\n}");
    PublicType open = new PublicType("io.penstock.a.T", 1);
    PublicType shared = new PublicType("io.penstock.b.T", 1);
    Map<String, Audience> listed =
        Map.of("io.penstock.a.T", Audience.OWN_MODULE, "io.penstock.b.T", Audience.USERS);

    assertThat(open.audience(exports, listed)).isEqualTo(Audience.OWN_MODULE);
    assertThat(open.audience(exports, Map.of())).isEqualTo(Audience.USERS);
    assertThat(shared.audience(exports, listed)).isEqualTo(Audience.OUR_MODULES);
    assertThat(new PublicType("io.penstock.c.T", 1).audience(exports, Map.of())).isEqualTo(Audience.OWN_MODULE);
  }

  @Test
  void aFolderWithoutClasses_isNoPublicFace(@TempDir Path empty) {
    assertThatIllegalStateException().isThrownBy(() -> PublicTypes.inClasses(empty));
  }
}
