package io.penstock.examples.disaggregated.tensors;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// The weights of a folder: one `model.safetensors`, or several files that `model.safetensors.index.json` lists. The
/// index must list every tensor of its files, in the file that has it.
public final class SafetensorsFolder implements TensorSource {
  public static final String WEIGHTS = "model.safetensors";
  static final String INDEX = "model.safetensors.index.json";
  private static final long MOST_INDEX_BYTES = 100_000_000;
  private static final int MOST_FILES = 1000;

  private final Path folder;
  private final Map<String, SafetensorsFile> files;
  private final Map<String, SafetensorsFile> fileOfTensor;

  private SafetensorsFolder(Path folder, Map<String, SafetensorsFile> files,
      Map<String, SafetensorsFile> fileOfTensor) {
    this.folder = folder;
    this.files = files;
    this.fileOfTensor = fileOfTensor;
  }

  /// Whether a folder has weights already.
  public static boolean isIn(Path folder) {
    return Files.exists(folder.resolve(WEIGHTS)) || Files.exists(folder.resolve(INDEX));
  }

  /// Reads and checks all headers.
  ///
  /// @throws ModelFileException if a file breaks a rule of the format, or does not agree with the index
  public static SafetensorsFolder open(Path folder) throws IOException {
    boolean one = Files.exists(folder.resolve(WEIGHTS));
    boolean many = Files.exists(folder.resolve(INDEX));
    if (one == many) {
      throw new ModelFileException(folder, "folder must have either " + WEIGHTS + " or " + INDEX
          + (one ? " (has both)" : " (has neither)"));
    }
    Map<String, SafetensorsFile> files = new TreeMap<>();
    SafetensorsFolder opened = new SafetensorsFolder(folder, files, new HashMap<>());
    try {
      if (one) {
        SafetensorsFile file = opened.add(WEIGHTS);
        file.names().forEach(name -> opened.fileOfTensor.put(name, file));
      } else {
        opened.follow(index(folder.resolve(INDEX)));
      }
      return opened;
    } catch (IOException | RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  private SafetensorsFile add(String file) throws IOException {
    SafetensorsFile open = SafetensorsFile.open(folder.resolve(file));
    files.put(file, open);
    return open;
  }

  /// Opens the files of an index, and compares their tensors with it.
  private void follow(Map<String, String> fileNames) throws IOException {
    for (String file : new TreeSet<>(fileNames.values())) {
      if (!Files.exists(folder.resolve(file))) {
        throw new ModelFileException(folder.resolve(file), "file must be there, as the index says (is missing)");
      }
      for (String tensor : add(file).names()) {
        if (!file.equals(fileNames.get(tensor))) {
          throw new ModelFileException(folder.resolve(INDEX), "weight_map must name %s for its tensor %s (was %s)"
              .formatted(file, tensor, fileNames.getOrDefault(tensor, "left out")));
        }
      }
    }
    for (Map.Entry<String, String> entry : fileNames.entrySet()) {
      SafetensorsFile file = files.get(entry.getValue());
      if (file == null || !file.names().contains(entry.getKey())) {
        throw new ModelFileException(folder.resolve(entry.getValue()),
            "tensor " + entry.getKey() + " must be there, as " + INDEX + " says (is missing)");
      }
      fileOfTensor.put(entry.getKey(), file);
    }
  }

  /// File name of each tensor.
  private static Map<String, String> index(Path index) throws IOException {
    if (Files.size(index) > MOST_INDEX_BYTES) {
      throw new ModelFileException(index,
          "file must have <= " + MOST_INDEX_BYTES + " bytes (was " + Files.size(index) + ")");
    }
    JsonNode map;
    try {
      map = SafetensorsHeader.STRICT.readTree(Files.readAllBytes(index)).path("weight_map");
    } catch (JacksonException e) {
      throw new ModelFileException(index, "file must be JSON without repeated names: " + e.getOriginalMessage(), e);
    }
    if (!map.isObject() || map.isEmpty()) {
      throw new ModelFileException(index, "weight_map must name the file of each tensor (was " + map + ")");
    }
    Map<String, String> fileNames = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> entry : map.properties()) {
      fileNames.put(entry.getKey(), fileName(index, entry.getKey(), entry.getValue()));
    }
    if (new TreeSet<>(fileNames.values()).size() > MOST_FILES) {
      throw new ModelFileException(index, "weight_map must name <= " + MOST_FILES + " files");
    }
    return fileNames;
  }

  /// The name of a file in the folder itself: the author of an index may be hostile.
  private static String fileName(Path index, String tensor, JsonNode file) throws ModelFileException {
    String name = file.isString() ? file.stringValue() : "";
    if (!name.matches("[A-Za-z0-9_.-]+\\.safetensors")) {
      throw new ModelFileException(index,
          "weight_map must name a .safetensors file beside it for " + tensor + " (was " + file + ")");
    }
    return name;
  }

  /// Names of the tensors of all files.
  public Set<String> names() {
    return fileOfTensor.keySet();
  }

  @Override
  public float[] tensor(String name, int... shape) throws ModelFileException {
    return file(name).tensor(name, shape);
  }

  @Override
  public float[] part(String name, Cut cut, int... shape) throws ModelFileException {
    return file(name).part(name, cut, shape);
  }

  private SafetensorsFile file(String tensor) throws ModelFileException {
    SafetensorsFile file = fileOfTensor.get(tensor);
    if (file == null) {
      Path only = folder.resolve(files.size() == 1 ? files.keySet().iterator().next() : INDEX);
      throw new ModelFileException(only, "tensor " + tensor + " must be there (is missing)");
    }
    return file;
  }

  @Override
  public void close() throws IOException {
    for (SafetensorsFile file : files.values()) {
      file.close();
    }
  }
}
