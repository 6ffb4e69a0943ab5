package io.penstock.figures;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// The Java and Markdown files of a repository.
public final class SourceFiles {
  private static final Set<String> NOT_OURS = Set.of("target", "node_modules", ".git", ".idea", ".vscode");

  private SourceFiles() {}

  /// Lists the files below `root`, sorted. Folders that builds, package managers and git write to are not entered:
  /// they are not ours, and change meanwhile.
  public static List<Path> below(Path root) throws IOException {
    List<Path> found = new ArrayList<>();
    Files.walkFileTree(root, new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
        return NOT_OURS.contains(String.valueOf(folder.getFileName()))
            ? FileVisitResult.SKIP_SUBTREE
            : FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
        String name = file.toString();
        if (name.endsWith(".md") || name.endsWith(".java")) {
          found.add(file);
        }
        return FileVisitResult.CONTINUE;
      }
    });
    found.sort(null);
    return found;
  }

  /// The text of `file`.
  public static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
