package io.penstock.readme;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/// The Java of every README, and of the page for adapters, compiles as it stands, imports included.
final class SnippetsTest {
  private static final Path ROOT = Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent();
  private static final Pattern FENCE = Pattern.compile("^```java\n(.*?)^```", Pattern.DOTALL | Pattern.MULTILINE);
  private static final Pattern TYPE =
      Pattern.compile("^(?:public |final |abstract )*(?:class|record|interface|enum) (\\w+)", Pattern.MULTILINE);

  @Test
  void snippetsOfTheReadmes_compileAsTheyStand() throws IOException {
    List<JavaFileObject> sources = new ArrayList<>();
    sources(ROOT.resolve("rsocket-api/wire/docs/adapters.md"), sources);
    assertThat(sources).as("the page has its adapter").isNotEmpty();
    try (Stream<Path> files = Files.walk(ROOT, 3)) {
      for (Path readme : files.filter(file -> file.endsWith("README.md")).sorted().toList()) {
        sources(readme, sources);
      }
    }
    StringWriter errors = new StringWriter();
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    boolean compiled = compiler.getTask(errors, null, null,
        List.of("-proc:none", "-nowarn", "-implicit:none", "-d", Files.createTempDirectory("snippets").toString(),
            "-classpath", System.getProperty("java.class.path")),
        null, sources).call();

    assertThat(compiled).as(errors.toString()).isTrue();
    assertThat(sources).hasSizeGreaterThanOrEqualTo(4);
  }

  /// The libraries of Spring are not on the class path here; the project of the page compiles the class.
  @Test
  void healthOfTheSpringPage_isTheClassOfTheApplication() throws IOException {
    Path folder = ROOT.resolve("examples/spring-boot");
    String page = Files.readString(folder.resolve("README.md"));
    String begin = "```java spring\n";
    String shown =
        page.substring(page.indexOf(begin) + begin.length(),
            page.indexOf("```\n", page.indexOf(begin) + begin.length()));

    assertThat(Files.readString(folder.resolve("src/main/java/io/penstock/examples/spring/TierHealth.java")))
        .endsWith(shown);
  }

  private static void sources(Path readme, List<JavaFileObject> sources) throws IOException {
    Matcher fence = FENCE.matcher(Files.readString(readme));
    while (fence.find()) {
      sources.add(new Source(ROOT.relativize(readme), sources.size(), fence.group(1)));
    }
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    /// @param number makes its package its own: pages may name types alike
    Source(Path page, int number, String text) {
      super(URI.create("string:///" + page.toString().replace(".md", "") + "/" + name(text) + ".java"), Kind.SOURCE);
      this.text = "package snippet" + number + ";" + text;
    }

    private static String name(String text) {
      Matcher type = TYPE.matcher(text);
      return type.find() ? type.group(1) : "Snippet";
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }
}
