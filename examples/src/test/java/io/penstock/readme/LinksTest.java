package io.penstock.readme;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.figures.SourceFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The links of every page lead somewhere, and READMEs are short.
final class LinksTest {
  private static final Path ROOT = Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent();
  private static final Pattern CODE = Pattern.compile("(?ms)^[ \\t]*```.*?^[ \\t]*```|`[^`\\n]*`");
  private static final Pattern FENCE = Pattern.compile("(?ms)^[ \\t]*```.*?^[ \\t]*```");
  private static final Pattern LINK = Pattern.compile("\\]\\((?!\\w+:)([^)#\\s]*)(?:#([^)\\s]*))?\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");

  @Test
  void everyLink_leadsToAFileAndAHeading() throws IOException {
    List<Path> pages = pages(ROOT);

    assertThat(pages).hasSizeGreaterThan(30);
    assertThat(broken(pages)).isEmpty();
  }

  @Test
  void brokenLink_isReported(@TempDir Path folder) throws IOException {
    Files.writeString(folder.resolve("a.md"),
        "# A `b`: c\n[self](#a-b-c) [gone](gone.md) [no heading](b.md#x) [web](https://penstock.io/x) `[code](y)`\n");
    Files.writeString(folder.resolve("b.md"), "# B\n[a](a.md#a-b-c)\n```\n# x\n```\n");

    assertThat(broken(pages(folder))).containsExactly("a.md: gone.md", "a.md: b.md#x");
  }

  @Test
  void readmeOfAModule_isShort() throws IOException {
    for (Path page : pages(ROOT)) {
      if (page.endsWith("README.md") && !page.getParent().equals(ROOT)) {
        assertThat(Files.readAllLines(page)).as(ROOT.relativize(page).toString()).hasSizeLessThanOrEqualTo(150);
      }
    }
  }

  private static List<Path> pages(Path root) throws IOException {
    return SourceFiles.below(root).stream().filter(file -> file.toString().endsWith(".md")).toList();
  }

  private static List<String> broken(List<Path> pages) {
    List<String> broken = new ArrayList<>();
    for (Path page : pages) {
      LINK.matcher(CODE.matcher(SourceFiles.read(page)).replaceAll("")).results().forEach(link -> {
        Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1)).normalize();
        String heading = link.group(2);
        if (!Files.exists(target) || (heading != null && !headings(target).contains(heading))) {
          broken.add(page.getFileName() + ": " + link.group(1) + (heading == null ? "" : "#" + heading));
        }
      });
    }
    return broken;
  }

  /// The anchors of a page: its headings in lower case, without punctuation, with hyphens for spaces.
  private static Set<String> headings(Path page) {
    return HEADING.matcher(FENCE.matcher(SourceFiles.read(page)).replaceAll("")).results()
        .map(
            heading -> heading.group(1).toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
        .collect(Collectors.toSet());
  }
}
