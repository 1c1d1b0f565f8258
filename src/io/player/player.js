// The player of Sinew's results. The page holds the data (io_player.h says how); this script shows them.
(function () {
"use strict";

const scene = JSON.parse(document.getElementById("sinew-scene").textContent);
const frameCount = scene.frames.length;
scene.fields.forEach((field) => {
  field.range = roundUp(field.range);
});
const byId = (id) => document.getElementById(id);

/// Two digits at most, so that a color bar ends at a number that reads well.
function roundUp(value) {
  if (!(value > 0))
    return 1;
  const unit = Math.pow(10, Math.floor(Math.log10(value)) - 1);
  return Number((Math.ceil(value / unit - 1e-9) * unit).toPrecision(2));
}

// ---- Data

function decodeBytes(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++)
    bytes[i] = binary.charCodeAt(i);
  return bytes;
}

function decodeBlock(kind, index, Type) {
  return new Type(decodeBytes(byId("sinew-" + kind + "-" + index).textContent).buffer);
}

/// A body's frames: text of fixed length per frame, decoded when a frame is shown.
class Frames {
  constructor(body, index) {
    this.body = body;
    this.count = body.vertices;
    this.text = byId("sinew-frames-" + index).textContent;
    this.length = 4 * Math.ceil(2 * this.count * (3 + scene.fields.length) / 3);
  }

  /// Uint16: positions [count, 3], then each field [count].
  quanta(frame) {
    return new Uint16Array(decodeBytes(this.text.substr(frame * this.length, this.length)).buffer);
  }

  /// Positions relative to `origin` [count, 3].
  positions(frame, quanta, origin, out) {
    const step = this.body.step, start = this.body.origins;
    const x0 = start[3 * frame] * step - origin[0];
    const y0 = start[3 * frame + 1] * step - origin[1];
    const z0 = start[3 * frame + 2] * step - origin[2];
    for (let i = 0; i < 3 * this.count; i += 3) {
      out[i] = x0 + quanta[i] * step;
      out[i + 1] = y0 + quanta[i + 1] * step;
      out[i + 2] = z0 + quanta[i + 2] * step;
    }
  }

  /// Values of a field [count], in its unit.
  values(quanta, field, out) {
    const scale = this.body.fieldMax[field] / 65535, begin = (3 + field) * this.count;
    for (let i = 0; i < this.count; i++)
      out[i] = quanta[begin + i] * scale;
  }
}

// ---- Colors

/// Viridis (S. van der Walt and N. Smith, CC0) from its fifth to its end, sRGB, linear between: steps of equal
/// perceived size. What lies before is too dark to show shape.
const rampStops = [0x414487, 0x355f8d, 0x2a788e, 0x21918c, 0x22a884, 0x44bf70, 0x7ad151, 0xbddf26, 0xfde725]
  .map((hex) => [hex >> 16, hex >> 8 & 255, hex & 255]);

/// sRGB bytes of a value between 0 and 1; clamped outside.
function rampColor(value) {
  const place = Math.min(Math.max(value, 0), 1) * (rampStops.length - 1);
  const below = Math.min(Math.floor(place), rampStops.length - 2), part = place - below;
  return rampStops[below].map((low, i) => Math.round(low + part * (rampStops[below + 1][i] - low)));
}

const rampSize = 256;
function rampTexture() {
  const data = new Uint8Array(4 * rampSize);
  for (let i = 0; i < rampSize; i++)
    data.set([...rampColor(i / (rampSize - 1)), 255], 4 * i);
  const texture = new THREE.DataTexture(data, rampSize, 1, THREE.RGBAFormat);
  texture.magFilter = texture.minFilter = THREE.LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

/// Uniforms that all skins share.
const shared = {
  ramp: {value: rampTexture()},
  fieldShown: {value: 0},
  unlit: {value: 0},
  seeThrough: {value: 0},
};

/// Flesh: each color of light wraps around the terminator by its own amount, red the most, as light does that travels
/// through skin; a soft sheen at grazing angles. The field's color replaces the skin's own.
function skinMaterial(color) {
  const material = new THREE.MeshStandardMaterial({
    color: new THREE.Color(color).convertSRGBToLinear(), roughness: 0.52, metalness: 0, side: THREE.DoubleSide,
    polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1, shadowSide: THREE.BackSide,
  });
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, shared);
    shader.vertexShader = "attribute float field;\nvarying float vField;\n" +
      shader.vertexShader.replace("#include <begin_vertex>", "#include <begin_vertex>\n\tvField = field;");
    const lights = THREE.ShaderChunk.lights_physical_pars_fragment.replace(
      "float dotNL = saturate( dot( geometry.normal, directLight.direction ) );\n\tvec3 irradiance = dotNL * directLight.color;",
      "float cosine = dot( geometry.normal, directLight.direction );\n" +
      "\tvec3 wrap = mix( vec3( 0.34, 0.14, 0.09 ), vec3( 0.2 ), fieldShown );\n" +
      "\tvec3 lit = saturate( ( cosine + wrap ) / ( 1.0 + wrap ) );\n" +
      "\tfloat dotNL = saturate( cosine );\n" +
      "\tvec3 irradiance = lit * lit * ( 1.0 + wrap ) * directLight.color;");
    shader.fragmentShader = "uniform sampler2D ramp;\nuniform float fieldShown, unlit, seeThrough;\nvarying float vField;\n" +
      shader.fragmentShader
        .replace("#include <lights_physical_pars_fragment>", lights)
        .replace("#include <color_fragment>", `
          float rampPlace = ( clamp( vField, 0.0, 1.0 ) * ${rampSize - 1}.0 + 0.5 ) / ${rampSize}.0;
          vec3 rampColor = texture2D( ramp, vec2( rampPlace, 0.5 ) ).rgb;
          diffuseColor.rgb = mix( diffuseColor.rgb, pow( rampColor, vec3( 2.2 ) ), fieldShown );`)
        .replace("vec3 outgoingLight =", `
          float facing = abs( dot( normal, normalize( vViewPosition ) ) );
          totalEmissiveRadiance += 0.13 * fieldShown * diffuseColor.rgb;
          totalEmissiveRadiance += ( 0.35 * diffuseColor.rgb + vec3( 0.02 ) ) * pow( 1.0 - facing, 3.0 );
          reflectedLight.directSpecular = min( reflectedLight.directSpecular, vec3( 0.4 ) ) * mix( 1.0, 0.45, fieldShown );
          diffuseColor.a *= mix( 1.0, mix( 0.30, 0.94, pow( 1.0 - facing, 1.7 ) ), seeThrough );
          vec3 outgoingLight =`)
        .replace("#include <dithering_fragment>",
          "#include <dithering_fragment>\n\tif ( unlit > 0.5 ) gl_FragColor = vec4( rampColor, 1.0 );");
  };
  return material;
}

// ---- Bodies

/// Splits the corners of triangles where the surface has an edge (over 50 degrees at the first frame), so that normals
/// are smooth elsewhere only. Returns the vertex of each split vertex, and the triangles over split vertices.
function splitSharpEdges(triangles, positions) {
  const cosine = Math.cos(50 * Math.PI / 180);
  const normals = faceNormals(triangles, positions);
  const parent = Int32Array.from(triangles, (_, corner) => corner);
  const root = (corner) => {
    while (parent[corner] !== corner)
      corner = parent[corner] = parent[parent[corner]];
    return corner;
  };
  const join = (a, b) => {
    parent[Math.max(root(a), root(b))] = Math.min(root(a), root(b));
  };
  const count = positions.length / 3, edges = new Map();
  for (let corner = 0; corner < triangles.length; corner++) {
    const face = Math.floor(corner / 3), next = 3 * face + (corner + 1) % 3;
    const a = triangles[corner], b = triangles[next], key = Math.min(a, b) * count + Math.max(a, b);
    const other = edges.get(key);
    if (other === undefined) {
      edges.set(key, corner);
      continue;
    }
    const otherFace = Math.floor(other / 3), otherNext = 3 * otherFace + (other + 1) % 3;
    const dot = normals[3 * face] * normals[3 * otherFace] + normals[3 * face + 1] * normals[3 * otherFace + 1] +
      normals[3 * face + 2] * normals[3 * otherFace + 2];
    if (dot < cosine)
      continue;
    const same = triangles[other] === a;
    join(corner, same ? other : otherNext);
    join(next, same ? otherNext : other);
  }
  const vertexOf = [], number = new Int32Array(triangles.length).fill(-1), index = new Uint32Array(triangles.length);
  for (let corner = 0; corner < triangles.length; corner++) {
    const top = root(corner);
    if (number[top] < 0)
      number[top] = vertexOf.push(triangles[corner]) - 1;
    index[corner] = number[top];
  }
  return {vertexOf: Uint32Array.from(vertexOf), index, edges: edges.keys(), count};
}

/// Unit normals of triangles [triangles, 3]; zero where flat.
function faceNormals(triangles, positions) {
  const normals = new Float32Array(triangles.length);
  for (let i = 0; i < triangles.length; i += 3) {
    cross(positions, triangles[i], triangles[i + 1], triangles[i + 2], normals, i);
    const length = Math.hypot(normals[i], normals[i + 1], normals[i + 2]) || 1;
    normals[i] /= length;
    normals[i + 1] /= length;
    normals[i + 2] /= length;
  }
  return normals;
}

function cross(x, a, b, c, out, at) {
  a *= 3; b *= 3; c *= 3;
  const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
  const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
  out[at] = uy * vz - uz * vy;
  out[at + 1] = uz * vx - ux * vz;
  out[at + 2] = ux * vy - uy * vx;
}

/// Area-weighted normals of vertices; the renderer makes them unit vectors.
const faceCross = new Float32Array(3);
function vertexNormals(index, positions, normals) {
  normals.fill(0);
  for (let i = 0; i < index.length; i += 3) {
    cross(positions, index[i], index[i + 1], index[i + 2], faceCross, 0);
    for (let corner = i; corner < i + 3; corner++) {
      const at = 3 * index[corner];
      normals[at] += faceCross[0];
      normals[at + 1] += faceCross[1];
      normals[at + 2] += faceCross[2];
    }
  }
  // Tiny triangles give tiny vectors, which shaders in half precision lose.
  for (let i = 0; i < normals.length; i += 3) {
    const length = Math.hypot(normals[i], normals[i + 1], normals[i + 2]) || 1;
    normals[i] /= length;
    normals[i + 1] /= length;
    normals[i + 2] /= length;
  }
}

const bodyColors = [0xd29f86, 0x8fb3c4, 0xc9b27d, 0xa894bd, 0x93b58c, 0xc98e9b];

/// One body on the stage.
class Body {
  constructor(index, origin) {
    this.frames = new Frames(scene.bodies[index], index);
    this.origin = origin;
    this.positions = new Float32Array(3 * this.frames.count);
    this.values = new Float32Array(this.frames.count);
    const triangles = decodeBlock("triangles", index, Int32Array);
    this.frames.positions(0, this.frames.quanta(0), origin, this.positions);
    const split = splitSharpEdges(triangles, this.positions);
    this.vertexOf = split.vertexOf;
    this.index = split.index;
    this.geometry = new THREE.BufferGeometry();
    this.geometry.setIndex(new THREE.BufferAttribute(split.index, 1));
    this.attributes = {};
    for (const [name, size] of [["position", 3], ["normal", 3], ["field", 1]]) {
      this.attributes[name] = new THREE.BufferAttribute(new Float32Array(size * this.vertexOf.length), size);
      this.geometry.setAttribute(name, this.attributes[name]);
    }
    this.makeObjects(bodyColors[index % bodyColors.length]);
    this.makeWires(split);
  }

  makeObjects(color) {
    this.skin = new THREE.Mesh(this.geometry, skinMaterial(color));
    this.skin.castShadow = this.skin.receiveShadow = true;
    // A see-through skin shows its nearest layer only: this one fills the depth buffer first.
    this.veil = new THREE.Mesh(this.geometry, new THREE.MeshBasicMaterial({
      colorWrite: false, transparent: true, side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 1,
      polygonOffsetUnits: 1,
    }));
    this.veil.renderOrder = 1;
    this.skin.renderOrder = 2;
    this.group = new THREE.Group();
    this.group.add(this.skin, this.veil);
    for (const object of this.group.children)
      object.frustumCulled = false;
  }

  makeWires(split) {
    const first = new Int32Array(split.count).fill(-1), ends = [];
    this.vertexOf.forEach((vertex, i) => {
      if (first[vertex] < 0)
        first[vertex] = i;
    });
    for (const key of split.edges)
      ends.push(first[Math.floor(key / split.count)], first[key % split.count]);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", this.attributes.position);
    geometry.setIndex(new THREE.BufferAttribute(Uint32Array.from(ends), 1));
    this.wires = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({
      color: 0x0b0d10, transparent: true, opacity: 0.4, depthWrite: false,
    }));
    this.wires.frustumCulled = false;
    this.wires.renderOrder = 3;
    this.group.add(this.wires);
  }

  /// Shows a frame; `field` -1: no color.
  show(frame, field, range) {
    const quanta = this.frames.quanta(frame);
    this.frames.positions(frame, quanta, this.origin, this.positions);
    const {position, normal, field: value} = this.attributes, vertexOf = this.vertexOf;
    for (let i = 0; i < vertexOf.length; i++) {
      const from = 3 * vertexOf[i];
      position.array[3 * i] = this.positions[from];
      position.array[3 * i + 1] = this.positions[from + 1];
      position.array[3 * i + 2] = this.positions[from + 2];
    }
    vertexNormals(this.index, position.array, normal.array);
    if (field >= 0) {
      this.frames.values(quanta, field, this.values);
      for (let i = 0; i < vertexOf.length; i++)
        value.array[i] = this.values[vertexOf[i]] / range;
    }
    position.needsUpdate = normal.needsUpdate = value.needsUpdate = true;
  }
}

// ---- Rigid shapes

/// A capsule along y from 0 to `length`.
function capsuleGeometry(radius, length) {
  const profile = [], steps = 12;
  for (let i = 0; i <= steps; i++) {
    const angle = -Math.PI / 2 + i / steps * Math.PI / 2;
    profile.push(new THREE.Vector2(Math.max(radius * Math.cos(angle), 0), radius * Math.sin(angle)));
  }
  for (let i = 0; i <= steps; i++) {
    const angle = i / steps * Math.PI / 2;
    profile.push(new THREE.Vector2(Math.max(radius * Math.cos(angle), 0), length + radius * Math.sin(angle)));
  }
  return new THREE.LatheBufferGeometry(profile, 36);
}

function vector(numbers) {
  return new THREE.Vector3(numbers[0], numbers[1], numbers[2]);
}

function meshGeometry(index) {
  const geometry = new THREE.BufferGeometry();
  const places = Float32Array.from(decodeBlock("shape-vertices", index, Float64Array));
  const split = splitSharpEdges(decodeBlock("shape-triangles", index, Int32Array), places);
  const position = new Float32Array(3 * split.vertexOf.length);
  split.vertexOf.forEach((vertex, i) => position.set(places.subarray(3 * vertex, 3 * vertex + 3), 3 * i));
  geometry.setAttribute("position", new THREE.BufferAttribute(position, 3));
  geometry.setIndex(new THREE.BufferAttribute(split.index, 1));
  geometry.computeVertexNormals();
  return geometry;
}

/// Geometry of a shape at its rest place.
function shapeGeometry(shape, index) {
  const point = vector(shape.point), place = new THREE.Matrix4().makeTranslation(point.x, point.y, point.z);
  if (shape.kind === "sphere")
    return new THREE.SphereBufferGeometry(shape.radius, 48, 32).applyMatrix(place);
  if (shape.kind === "box")
    return new THREE.BoxBufferGeometry(...shape.halfSize.map((half) => 2 * half)).applyMatrix(place);
  if (shape.kind === "mesh")
    return meshGeometry(index);
  const axis = vector(shape.point2).sub(point), length = axis.length();
  const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0),
    length > 0 ? axis.normalize() : new THREE.Vector3(0, 1, 0));
  return capsuleGeometry(shape.radius, length).applyMatrix(new THREE.Matrix4().makeRotationFromQuaternion(turn))
    .applyMatrix(place);
}

/// Rigid shapes other than planes, moving with their poses.
class Shapes {
  constructor(poses, origin) {
    this.poses = poses;
    this.origin = origin;
    this.group = new THREE.Group();
    const material = new THREE.MeshStandardMaterial({
      color: new THREE.Color(0xe3d9c4).convertSRGBToLinear(), roughness: 0.42, metalness: 0, shadowSide: THREE.BackSide,
    });
    this.objects = scene.shapes.map((shape, index) => {
      if (shape.kind === "plane")
        return null;
      const object = new THREE.Mesh(shapeGeometry(shape, index), material);
      object.castShadow = object.receiveShadow = true;
      object.matrixAutoUpdate = false;
      this.group.add(object);
      return object;
    });
  }

  /// Pose of a shape as a matrix, relative to the origin.
  pose(frame, index) {
    const p = this.poses.subarray(12 * (frame * scene.shapes.length + index)), o = this.origin;
    return new THREE.Matrix4().set(p[0], p[1], p[2], p[9] - o[0], p[3], p[4], p[5], p[10] - o[1], p[6], p[7], p[8],
      p[11] - o[2], 0, 0, 0, 1);
  }

  show(frame) {
    this.objects.forEach((object, index) => {
      if (object) {
        object.matrix.copy(this.pose(frame, index));
        object.matrixWorldNeedsUpdate = true;
      }
    });
  }

  /// Points that bound the shapes at a frame.
  points(frame, out) {
    this.objects.forEach((object, index) => {
      if (!object)
        return;
      object.geometry.computeBoundingBox();
      const {min, max} = object.geometry.boundingBox, pose = this.pose(frame, index);
      for (let corner = 0; corner < 8; corner++)
        out.push(new THREE.Vector3(corner & 1 ? max.x : min.x, corner & 2 ? max.y : min.y,
          corner & 4 ? max.z : min.z).applyMatrix4(pose));
    });
  }
}

// ---- Ground

/// Nearest of 1, 2, 5 times a power of ten below a size.
function roundLength(size) {
  const power = Math.pow(10, Math.floor(Math.log10(size)));
  return [5, 2, 1].map((digit) => digit * power).find((length) => length <= size * 1.0001) || power;
}

/// A grid that fades out with the distance, and takes shadows.
class Ground {
  constructor(radius, spacing) {
    this.group = new THREE.Group();
    const plane = new THREE.PlaneBufferGeometry(2, 2);
    const grid = new THREE.ShaderMaterial({
      transparent: true, depthWrite: false, extensions: {derivatives: true},
      uniforms: {radius: {value: radius}, spacing: {value: spacing}},
      vertexShader: "varying vec2 vPlace;\nuniform float radius;\nvoid main() {\n\tvPlace = position.xy * radius;\n" +
        "\tgl_Position = projectionMatrix * modelViewMatrix * vec4( position, 1.0 );\n}",
      fragmentShader: `
        varying vec2 vPlace;
        uniform float radius, spacing;
        float lines( float size ) {
          vec2 place = vPlace / size, width = fwidth( place );
          vec2 distance = abs( fract( place - 0.5 ) - 0.5 ) / max( width, vec2( 1e-6 ) );
          vec2 cover = clamp( 1.0 - distance, 0.0, 1.0 ) * clamp( 1.2 - 2.0 * width, 0.0, 1.0 );
          return max( cover.x, cover.y );
        }
        void main() {
          float fade = 1.0 - smoothstep( 0.1, 1.0, length( vPlace ) / radius );
          float line = max( 0.09 * lines( spacing ), 0.2 * lines( 5.0 * spacing ) );
          gl_FragColor = vec4( vec3( 0.86, 0.92, 1.0 ), fade * ( 0.05 + line ) );
        }`,
    });
    this.group.add(new THREE.Mesh(plane, grid));
    const shadow = new THREE.Mesh(plane, new THREE.ShadowMaterial({opacity: 0.42, depthWrite: false}));
    shadow.receiveShadow = true;
    this.group.add(shadow);
    this.group.scale.set(radius, radius, radius);
  }

  place(middle, normal) {
    this.group.position.copy(middle);
    this.group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
  }
}

// ---- Stage: renderer, lights, camera

const canvas = byId("view");

/// Throws where the browser has no WebGL, after saying so on the page.
function openRenderer() {
  try {
    return new THREE.WebGLRenderer({canvas, antialias: true, alpha: true});
  } catch (error) {
    byId("fault").hidden = false;
    byId("fault").textContent = "This browser offers no WebGL, which the player draws with.";
    throw error;
  }
}

function makeRenderer() {
  const renderer = openRenderer();
  renderer.setClearColor(0, 0);
  renderer.gammaOutput = true;
  renderer.gammaFactor = 2.2;
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.PCFSoftShadowMap;
  return renderer;
}

/// Up is against gravity; z without one.
function upDirection() {
  const up = vector(scene.gravity).negate();
  return up.length() > 0 ? up.normalize() : new THREE.Vector3(0, 0, 1);
}

/// A camera on a sphere around a target.
class Orbit {
  constructor(up) {
    this.camera = new THREE.PerspectiveCamera(30, 1, 0.01, 100);
    this.up = up;
    this.east = new THREE.Vector3(1, 0, 0);
    if (Math.abs(up.x) > 0.9)
      this.east.set(0, 1, 0);
    this.east.sub(up.clone().multiplyScalar(this.east.dot(up))).normalize();
    this.north = up.clone().cross(this.east);
    this.target = new THREE.Vector3();
    this.azimuth = -Math.PI / 2;
    this.elevation = 0.3;
    this.distance = 1;
  }

  /// From the target to the camera.
  back() {
    const flat = Math.cos(this.elevation);
    return this.east.clone().multiplyScalar(flat * Math.cos(this.azimuth))
      .addScaledVector(this.north, flat * Math.sin(this.azimuth)).addScaledVector(this.up, Math.sin(this.elevation));
  }

  axes() {
    const back = this.back(), right = this.up.clone().cross(back).normalize();
    return {back, right, top: back.clone().cross(right)};
  }

  /// Smallest and largest distance of points along a direction.
  static span(points, direction) {
    let low = Infinity, high = -Infinity;
    for (const point of points) {
      const place = point.dot(direction);
      low = Math.min(low, place);
      high = Math.max(high, place);
    }
    return high - low;
  }

  /// Aims at the points from the side that shows their longest horizontal direction; from higher up where they are flat.
  aim(points) {
    const turns = 24, spans = [];
    for (let i = 0; i < turns; i++) {
      const angle = i * Math.PI / turns;
      spans.push(Orbit.span(points, this.east.clone().multiplyScalar(Math.cos(angle))
        .addScaledVector(this.north, Math.sin(angle))));
    }
    const longest = spans.indexOf(Math.max(...spans));
    const narrow = spans[(longest + turns / 2) % turns], height = Orbit.span(points, this.up);
    // The camera stands on the southern side.
    this.azimuth = longest * Math.PI / turns - Math.PI / 2;
    if (Math.sin(this.azimuth) > 0)
      this.azimuth -= Math.PI;
    this.azimuth += 0.42;
    this.elevation = 0.26 + 0.7 * (1 - Math.min(1, height / Math.max(narrow, 1e-30)));
  }

  /// The nearest place from which all points are in view, in closed form: each side of the view is a plane.
  fit(points, margin) {
    const {back, right, top} = this.axes();
    const tanY = Math.tan(this.camera.fov * Math.PI / 360), tanX = tanY * this.camera.aspect;
    const tan = [tanX * margin.x, tanY * margin.y];
    const upper = [-Infinity, -Infinity], lower = [Infinity, Infinity];
    let depth = 0;
    for (const p of points) {
      const near = p.dot(back);
      depth += near / points.length;
      [p.dot(right), p.dot(top)].forEach((side, i) => {
        upper[i] = Math.max(upper[i], side + near * tan[i]);
        lower[i] = Math.min(lower[i], side - near * tan[i]);
      });
    }
    const height = Math.max((upper[0] - lower[0]) / (2 * tan[0]), (upper[1] - lower[1]) / (2 * tan[1]));
    this.distance = Math.max(height - depth, 1e-6);
    const shift = margin.shift * this.distance * tanY;
    this.target.copy(right.clone().multiplyScalar((upper[0] + lower[0]) / 2))
      .addScaledVector(top, (upper[1] + lower[1]) / 2 - shift).addScaledVector(back, depth);
  }

  turn(dx, dy) {
    this.azimuth -= dx;
    this.elevation = Math.min(Math.max(this.elevation + dy, -1.55), 1.55);
  }

  /// Shifts the target; arguments are parts of the view's height.
  shift(dx, dy) {
    const {right, top} = this.axes(), height = 2 * this.distance * Math.tan(this.camera.fov * Math.PI / 360);
    this.target.addScaledVector(right, -dx * height).addScaledVector(top, dy * height);
  }

  /// Changes the distance and keeps what is under the place (parts of the view's height from the middle) there.
  zoom(factor, x, y) {
    this.shift(-x, -y);
    this.distance *= factor;
    this.shift(x, y);
  }

  place(size) {
    const camera = this.camera;
    camera.up.copy(this.up);
    camera.position.copy(this.target).addScaledVector(this.back(), this.distance);
    camera.lookAt(this.target);
    camera.far = camera.position.length() + 8 * size;
    camera.near = Math.max(this.distance - 3 * size, camera.far / 4000);
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld(true);
  }
}

/// Light from the sky, a key light that casts the shadows, and a light and a rim that go with the camera.
function makeLights(stage, camera, up, size) {
  stage.add(new THREE.HemisphereLight(0xe6eeff, 0x6f5f55, 0.34));
  stage.children[stage.children.length - 1].position.copy(up);
  const key = new THREE.DirectionalLight(0xfff1e0, 0.5);
  key.castShadow = true;
  key.shadow.mapSize.set(2048, 2048);
  key.shadow.radius = 3;
  key.shadow.bias = -0.0008;
  Object.assign(key.shadow.camera, {left: -size, right: size, top: size, bottom: -size, near: 0.1 * size, far: 6 * size});
  stage.add(key, key.target);
  const front = new THREE.DirectionalLight(0xffffff, 0.28), rim = new THREE.DirectionalLight(0xbfd8ff, 0.38);
  front.position.set(-0.5, 0.6, 1);
  rim.position.set(0.9, 0.5, -0.8);
  camera.add(front, front.target, rim, rim.target);
  stage.add(camera);
  return key;
}

// ---- Putting it together

const options = new URLSearchParams(location.hash.slice(1));
const choice = {wire: false, skin: false, bones: true, ground: true, loop: true};
const renderer = makeRenderer();
const stage = new THREE.Scene();
const origin = scene.low.map((low, axis) => (low + scene.high[axis]) / 2);
const up = upDirection();
const orbit = new Orbit(up);
const bodies = scene.bodies.map((_, index) => new Body(index, origin));
const shapes = new Shapes(decodeBlock("poses", 0, Float64Array), origin);
let frame = 0, field = -1, dirty = true, playing = false, clock = 0, lastTick = 0, viewIsOurs = true;

bodies.forEach((body) => stage.add(body.group));
stage.add(shapes.group);

/// Points that the first view should hold: some of each body's vertices at some frames.
function samplePoints() {
  const points = [], every = Math.max(1, Math.floor(frameCount / 12));
  for (let at = 0; at < frameCount + every - 1; at += every) {
    const shown = Math.min(at, frameCount - 1);
    for (const body of bodies) {
      body.frames.positions(shown, body.frames.quanta(shown), origin, body.positions);
      const step = 3 * Math.max(1, Math.floor(body.frames.count / 400));
      for (let i = 0; i < body.positions.length; i += step)
        points.push(vector(body.positions.subarray(i, i + 3)));
    }
    shapes.points(shown, points);
  }
  return points;
}

const points = samplePoints();
const size = Math.max(...points.map((p) => p.length()), 1e-30);
const spacing = roundLength(size / 4);
const keyLight = makeLights(stage, orbit.camera, up, 1.5 * size);
const grounds = makeGrounds();

/// Planes of the scene, or a ground below everything.
function makeGrounds() {
  const radius = 4 * size, found = [];
  scene.shapes.forEach((shape, index) => {
    if (shape.kind === "plane")
      found.push({ground: new Ground(radius, spacing), shape, index});
  });
  if (!found.length) {
    const lowest = Math.min(...points.map((p) => p.dot(up)));
    const ground = new Ground(radius, spacing);
    ground.place(up.clone().multiplyScalar(lowest - 0.03 * size), up);
    found.push({ground});
  }
  found.forEach(({ground}) => stage.add(ground.group));
  return found;
}

/// Moves the planes that a grid shows; the grid's middle is the foot of the scene's middle.
function showGrounds() {
  for (const {ground, shape, index} of grounds) {
    if (!shape)
      continue;
    const pose = shapes.pose(frame, index), normal = vector(shape.normal).transformDirection(pose);
    const height = vector(shape.point).applyMatrix4(pose).dot(normal);
    ground.place(normal.clone().multiplyScalar(height), normal);
  }
}

function resetView() {
  orbit.aim(points);
  orbit.azimuth += Math.PI / 180 * Number(options.get("azimuth") || 0);
  orbit.elevation += Math.PI / 180 * Number(options.get("elevation") || 0);
  const wide = window.innerWidth > 640 && !document.body.classList.contains("bare");
  orbit.fit(points, wide ? {x: 0.8, y: 0.76, shift: 0.06} : {x: 0.9, y: 0.86, shift: 0});
  orbit.distance /= Number(options.get("zoom") || 1);
  viewIsOurs = true;
  dirty = true;
}

function applyChoices() {
  shared.seeThrough.value = choice.skin ? 1 : 0;
  for (const body of bodies) {
    body.veil.visible = choice.skin;
    body.wires.visible = choice.wire;
    body.skin.material.transparent = choice.skin;
    body.skin.material.depthWrite = !choice.skin;
  }
  shapes.group.visible = choice.bones;
  grounds.forEach(({ground}) => {
    ground.group.visible = choice.ground;
  });
  dirty = true;
}

/// Light and shadow from above the camera's left shoulder, but fixed in the scene.
function placeKeyLight() {
  const {right, top} = orbit.axes();
  keyLight.position.copy(up).multiplyScalar(3.2 * size).addScaledVector(right, -1.6 * size).addScaledVector(top, 0.5 * size)
    .addScaledVector(orbit.back(), 1.4 * size);
}

function render() {
  orbit.place(size);
  renderer.render(stage, orbit.camera);
  dirty = false;
}

function resize(width, height, ratio) {
  renderer.setPixelRatio(ratio);
  renderer.setSize(width, height, false);
  orbit.camera.aspect = width / height;
  if (viewIsOurs)
    resetView();
  dirty = true;
}

function setFrame(index) {
  frame = Math.min(Math.max(Math.round(index), 0), frameCount - 1);
  const range = field >= 0 ? scene.fields[field].range : 1;
  bodies.forEach((body) => body.show(frame, field, range));
  shapes.show(frame);
  showGrounds();
  showFrameNumbers();
  dirty = true;
}

function setColor(name) {
  field = scene.fields.findIndex((entry) => entry.name === name);
  shared.fieldShown.value = field >= 0 ? 1 : 0;
  document.querySelectorAll("#colors button").forEach((button) => {
    button.setAttribute("aria-checked", String(button.dataset.name === (field >= 0 ? name : "none")));
  });
  showLegend();
  setFrame(frame);
}

function setChoice(name, on) {
  choice[name] = on;
  document.querySelectorAll(`[data-choice="${name}"]`).forEach((button) => {
    button.setAttribute("aria-pressed", String(on));
  });
  applyChoices();
}

// ---- Words and numbers

function shortNumber(value) {
  return value === 0 ? "0" : Number(value.toPrecision(3)).toString();
}

/// Lengths read best in a unit that fits.
function lengthText(meters) {
  const [factor, unit] = meters >= 0.9999 ? [1, "m"] : meters >= 0.00999 ? [100, "cm"] : [1000, "mm"];
  return shortNumber(meters * factor) + " " + unit;
}

function showFrameNumbers() {
  const [index, time, status, iterations, ms] = scene.frames[frame];
  const words = ["converged", "budget spent", "stalled"];
  byId("clock").innerHTML = `${time.toFixed(3)} s <small>frame ${index}</small>`;
  byId("clock").title = status < 0 ? "the start" : `${words[status]}, ${iterations} iterations, ${ms.toFixed(1)} ms`;
  const scrub = byId("scrub");
  scrub.value = frame;
  scrub.style.setProperty("--done", (frameCount > 1 ? 100 * frame / (frameCount - 1) : 0) + "%");
}

function showFacts() {
  const facts = [`${scene.nodes.toLocaleString("en")} nodes`, `${scene.tets.toLocaleString("en")} tetrahedra`,
    `${scene.frames[frameCount - 1][0]} frames`];
  if (scene.stride > 1)
    facts.push(`every ${scene.stride}th shown`);
  if (scene.msPerFrame !== null)
    facts.push(`${Number(scene.msPerFrame.toPrecision(3)).toLocaleString("en")} ms per frame`);
  byId("facts").textContent = facts.join("  \u00b7  ");
  byId("scale").textContent = "grid " + lengthText(spacing);
}

/// Round numbers between 0 and a range, at most six.
function tickValues(range) {
  const step = [1, 2, 4, 5, 10].map((n) => n * roundLength(range / 5)).find((length) => range / length <= 5) || range;
  const ticks = [];
  for (let i = 0; i * step < 0.8 * range; i++)
    ticks.push(i * step);
  ticks.push(range);
  return ticks;
}

function showLegend() {
  byId("legend").hidden = field < 0;
  if (field < 0)
    return;
  const {name, unit, range, max} = scene.fields[field];
  const text = (value) => unit === "m" && value > 0 ? lengthText(value) : shortNumber(value);
  byId("legend-name").textContent = name === "strain" ? "largest principal strain" : name;
  byId("legend-max").textContent = "max " + text(max);
  byId("ticks").innerHTML = tickValues(range).map((value) =>
    `<span style="left:${100 * value / range}%">${value === range && max > range * 1.001 ? "\u2265\u2009" : ""}${text(value)}</span>`)
    .join("");
  const context = byId("ramp").getContext("2d");
  for (let i = 0; i < 256; i++) {
    context.fillStyle = `rgb(${rampColor(i / 255)})`;
    context.fillRect(i, 0, 1, 1);
  }
}

/// How each step ended, under the slider.
function showStates() {
  const colors = {"-1": "#7f8a95", 0: "#6fae8f", 1: "#d9b25f", 2: "#e2604f"};
  const strip = byId("states"), context = (strip.width = frameCount, strip.getContext("2d"));
  scene.frames.forEach((entry, i) => {
    context.fillStyle = colors[entry[2]];
    context.fillRect(i, 0, 1, 1);
  });
}

// ---- Controls

function togglePlay(on) {
  playing = on;
  if (playing && frame === frameCount - 1 && !choice.loop)
    setFrame(0);
  clock = frame;
  lastTick = 0;
  document.body.classList.toggle("playing", playing);
}

function makeButtons() {
  const titles = {none: "Plain", strain: "Strain", displacement: "Displacement"};
  for (const name of ["none", ...scene.fields.map((entry) => entry.name).reverse()]) {
    const button = document.createElement("button");
    button.textContent = titles[name] || name;
    button.dataset.name = name;
    button.setAttribute("role", "radio");
    button.onclick = () => setColor(name);
    byId("colors").append(button);
  }
  const labels = {wire: "Wireframe", skin: "See-through", bones: "Rigid shapes", ground: "Ground"};
  for (const name of Object.keys(labels)) {
    if (name === "bones" && !shapes.group.children.length)
      continue;
    const button = document.createElement("button");
    button.textContent = labels[name];
    button.dataset.choice = name;
    button.onclick = () => setChoice(name, !choice[name]);
    byId("toggles").append(button);
  }
  byId("loop").dataset.choice = "loop";
  byId("loop").onclick = () => setChoice("loop", !choice.loop);
  byId("play").onclick = () => togglePlay(!playing);
  byId("reset").onclick = resetView;
  byId("help").onclick = () => byId("keys").showModal();
  byId("keys").onclick = () => byId("keys").close();
  byId("scrub").max = frameCount - 1;
  byId("scrub").oninput = (event) => {
    togglePlay(false);
    setFrame(Number(event.target.value));
  };
}

function nextColor() {
  const names = ["none", ...scene.fields.map((entry) => entry.name).reverse()];
  setColor(names[(names.indexOf(field >= 0 ? scene.fields[field].name : "none") + 1) % names.length]);
}

function stepTo(index) {
  togglePlay(false);
  setFrame(index);
}

const keyActions = {
  " ": () => togglePlay(!playing),
  ArrowLeft: (event) => stepTo(frame - (event.shiftKey ? 10 : 1)),
  ArrowRight: (event) => stepTo(frame + (event.shiftKey ? 10 : 1)),
  Home: () => stepTo(0),
  End: () => stepTo(frameCount - 1),
  c: nextColor,
  w: () => setChoice("wire", !choice.wire),
  s: () => setChoice("skin", !choice.skin),
  b: () => setChoice("bones", !choice.bones),
  g: () => setChoice("ground", !choice.ground),
  l: () => setChoice("loop", !choice.loop),
  r: resetView,
  u: () => document.body.classList.toggle("bare"),
  "?": () => byId("keys").showModal(),
};

function listenToKeys() {
  window.addEventListener("keydown", (event) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.ctrlKey || event.metaKey || event.altKey || !keyActions[key] || event.target.tagName === "SELECT")
      return;
    event.preventDefault();
    keyActions[key](event);
  });
}

/// One pointer turns, or shifts with Shift or another button; two shift and zoom.
function listenToPointers() {
  const held = new Map();
  const middle = () => {
    const all = [...held.values()];
    return {x: all.reduce((sum, p) => sum + p.x, 0) / all.length, y: all.reduce((sum, p) => sum + p.y, 0) / all.length,
      spread: all.length > 1 ? Math.hypot(all[0].x - all[1].x, all[0].y - all[1].y) : 0};
  };
  const offset = (x, y) => {
    const box = canvas.getBoundingClientRect();
    return [(x - box.left - box.width / 2) / box.height, (y - box.top - box.height / 2) / box.height];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, {x: event.clientX, y: event.clientY, shift: event.button !== 0 || event.shiftKey});
    canvas.classList.add("held");
  });
  canvas.addEventListener("pointermove", (event) => {
    const pointer = held.get(event.pointerId);
    if (!pointer)
      return;
    const before = middle();
    viewIsOurs = false;
    pointer.x = event.clientX;
    pointer.y = event.clientY;
    const after = middle(), height = canvas.clientHeight;
    const dx = (after.x - before.x) / height, dy = (after.y - before.y) / height;
    if (held.size === 1 && !pointer.shift)
      orbit.turn(4 * dx, 4 * dy);
    else
      orbit.shift(dx, dy);
    if (before.spread > 0 && after.spread > 0)
      orbit.zoom(before.spread / after.spread, ...offset(after.x, after.y));
    dirty = true;
  });
  const release = (event) => {
    held.delete(event.pointerId);
    canvas.classList.toggle("held", held.size > 0);
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("dblclick", resetView);
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    viewIsOurs = false;
    const lines = event.deltaY * (event.deltaMode === 1 ? 30 : 1);
    orbit.zoom(Math.exp(Math.min(Math.max(lines, -200), 200) * 0.0016), ...offset(event.clientX, event.clientY));
    dirty = true;
  }, {passive: false});
}

/// Shows the frame that the time wants.
function advance(now) {
  const elapsed = lastTick ? (now - lastTick) / 1000 : 0;
  lastTick = now;
  clock += elapsed * Number(byId("speed").value) / (scene.frameSeconds * scene.stride);
  if (clock >= frameCount) {
    if (choice.loop) {
      clock %= frameCount;
    } else {
      clock = frameCount - 1;
      togglePlay(false);
    }
  }
  if (Math.floor(clock) !== frame)
    setFrame(Math.floor(clock));
}

function tick(now) {
  if (playing)
    advance(now);
  if (dirty)
    render();
  requestAnimationFrame(tick);
}

/// Choices in the address, such as #frame=10&color=strain&ui=0&azimuth=30.
function readOptions() {
  const flag = (name, otherwise) => options.has(name) ? options.get(name) !== "0" : otherwise;
  if (!flag("ui", true))
    document.body.classList.add("bare");
  // A bone is named after its skeleton and joints, "bones.1-2"; no other name has a point.
  const hasBones = scene.shapes.some((shape) => shape.kind === "capsule" && shape.name.includes("."));
  setChoice("wire", flag("wire", false));
  setChoice("skin", flag("skin", hasBones));
  setChoice("bones", flag("bones", true));
  setChoice("ground", flag("ground", true));
  setChoice("loop", flag("loop", true));
  setColor(options.get("color") || "none");
  setFrame(Number(options.get("frame") || 0));
  togglePlay(flag("play", !options.has("frame") && frameCount > 1));
}

window.addEventListener("resize", () => resize(window.innerWidth, window.innerHeight, window.devicePixelRatio));
makeButtons();
listenToKeys();
listenToPointers();
showFacts();
showStates();
readOptions();
resize(window.innerWidth, window.innerHeight, window.devicePixelRatio);
placeKeyLight();
requestAnimationFrame(tick);

/// For scripts and tests.
window.sinew = {
  frameCount, setFrame, setColor, render, scene, origin,
  camera: orbit.camera,
  get frame() {
    return frame;
  },
  get playing() {
    return playing;
  },
  /// wire, skin, bones, ground, loop.
  setOption: setChoice,
  /// Field colors without light, on nothing.
  setUnlit(on) {
    shared.unlit.value = on ? 1 : 0;
  },
  setSize(width, height) {
    resize(width, height, 1);
  },
  /// sRGB bytes of a value between 0 and 1.
  colormap: rampColor,
  /// Place of a vertex at the shown frame, in the scene's coordinates.
  position(body, vertex) {
    return [0, 1, 2].map((axis) => bodies[body].positions[3 * vertex + axis] + origin[axis]);
  },
  /// Its pixel, from the upper left, and its depth between -1 and 1.
  project(body, vertex) {
    const p = vector(bodies[body].positions.subarray(3 * vertex, 3 * vertex + 3)).project(orbit.camera);
    const {width, height} = canvas;
    return [(p.x + 1) / 2 * width, (1 - p.y) / 2 * height, p.z];
  },
  /// Pixels of the shown frame [height, width, 4], upper row first.
  pixels() {
    render();
    const gl = renderer.getContext(), {width, height} = canvas, rows = new Uint8Array(4 * width * height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, rows);
    const out = new Uint8Array(rows.length);
    for (let y = 0; y < height; y++)
      out.set(rows.subarray(4 * width * (height - 1 - y), 4 * width * (height - y)), 4 * width * y);
    return {width, height, data: out};
  },
};
})();
