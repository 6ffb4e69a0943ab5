package io.penstock.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The manual's example of a side-car compiles as it is shown.
final class ReadmeTest {
  @TempDir
  private Path folder;

  @Test
  void sideCarExample_compilesAsShown() throws IOException {
    String section = Files.readString(Path.of(System.getProperty("basedir", ""), "docs/sidecar.md").toAbsolutePath());
    String shown =
        section.substring(section.indexOf("```java\n") + 8, section.indexOf("```\n", section.indexOf("```java\n") + 8));
    JavaFileObject source = new SimpleJavaFileObject(URI.create("string:///Example.java"), JavaFileObject.Kind.SOURCE) {
      @Override
      public CharSequence getCharContent(boolean ignoreErrors) {
        return shown;
      }
    };
    StringWriter said = new StringWriter();

    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    boolean isCompiled = compiler
        .getTask(said, null, null, List.of("-d", folder.toString(), "-proc:none"), null, List.of(source)).call();

    assertThat(isCompiled).as(said.toString()).isTrue();
    assertThat(folder.resolve("Example.class")).exists();
  }
}
