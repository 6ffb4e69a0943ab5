package io.penstock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RoomsTest {
  @TempDir
  Path classes;

  @Test
  void roomsInACycle_areFound_andThoseBesideItAreNot() throws IOException {
    write("io.penstock.above.A", "io.penstock.one.A");
    write("io.penstock.one.A", "io.penstock.two.A");
    write("io.penstock.two.A", "io.penstock.three.A$Part");
    write("io.penstock.three.A$Part", "io.penstock.one.A");
    write("io.penstock.three.A", "io.penstock.below.A");
    write("io.penstock.below.A", "java.util.List");

    assertThat(Rooms.violationsIn(classes)).containsExactly("io.penstock.one lies in a cycle",
        "io.penstock.three lies in a cycle", "io.penstock.two lies in a cycle");
  }

  @Test
  void roomOfMoreThanThirtyTypes_isFound() throws IOException {
    for (int i = 0; i < 31; i++) {
      write("io.penstock.large.T" + i, "java.util.List");
      write("io.penstock.large.T" + i + "$Part", "java.util.List");
      write("io.penstock.full.T" + i % 30, "java.util.List");
    }

    assertThat(Rooms.violationsIn(classes)).containsExactly("io.penstock.large has 31 types");
  }

  @Test
  void noClasses_isAnErrorAndNotAPass() {
    assertThatIllegalStateException().isThrownBy(() -> Rooms.violationsIn(classes));
  }

  private void write(String name, String used) throws IOException {
    ClassFile.of().buildTo(classes.resolve(name + ".class"), ClassDesc.of(name),
        type -> type.withField("used", ClassDesc.of(used), 0));
  }
}
